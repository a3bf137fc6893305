// SPDX-License-Identifier: Apache-2.0
// As much of JSON as files of graphs have.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace afterglow::c_api {

struct Json {
  enum class Kind { null, boolean, number, text, list, object };

  Kind kind = Kind::null;
  bool truth = false;
  double number = 0;
  std::string text;
  std::vector<Json> items;
  std::map<std::string, Json, std::less<>> members;

  /// A member of an object; nullptr where there is none.
  const Json* member(std::string_view name) const;
};

/// Refuses what is none; `source` is what errors call it.
Json json_from(std::string_view text, const std::string& source);

}  // namespace afterglow::c_api
