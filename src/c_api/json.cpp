// SPDX-License-Identifier: Apache-2.0
#include "c_api/json.h"

#include <charconv>
#include <cstdint>

#include "c_api/interface.h"

namespace afterglow::c_api {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  Json read() {
    Json value = any(0);
    skip();
    if (place_ != text_.size()) wrong("something follows its end");
    return value;
  }

 private:
  static constexpr int most_nested = 64;

  Json any(int depth) {
    if (depth > most_nested) wrong("it is nested too deep");
    Json value;
    switch (next()) {
      case '{':
        value.kind = Json::Kind::object;
        for_each('}', [&] {
          if (next() != '"') wrong("a name is missing");
          std::string name = text();
          if (next() != ':') wrong("a colon is missing");
          ++place_;
          value.members[std::move(name)] = any(depth + 1);
        });
        return value;
      case '[':
        value.kind = Json::Kind::list;
        for_each(']', [&] { value.items.push_back(any(depth + 1)); });
        return value;
      case '"':
        value.kind = Json::Kind::text;
        value.text = text();
        return value;
      case 't':
      case 'f':
        value.kind = Json::Kind::boolean;
        value.truth = text_[place_] == 't';
        word(value.truth ? "true" : "false");
        return value;
      case 'n':
        word("null");
        return value;
      default: {
        value.kind = Json::Kind::number;
        const char* const first = text_.data() + place_;
        const auto read = std::from_chars(first, text_.data() + text_.size(), value.number);
        if (read.ec != std::errc()) wrong("a value is missing");
        place_ += static_cast<std::size_t>(read.ptr - first);
        return value;
      }
    }
  }

  template <class Item>
  void for_each(char end, Item&& item) {
    ++place_;
    if (next() == end) {
      ++place_;
      return;
    }
    for (;;) {
      item();
      const char after = next();
      ++place_;
      if (after == end) return;
      if (after != ',') wrong("a comma is missing");
    }
  }

  std::string text() {
    std::string result;
    ++place_;
    for (;;) {
      if (place_ >= text_.size()) wrong("a text has no end");
      const char one = text_[place_++];
      if (one == '"') return result;
      if (one != '\\') {
        result += one;
        continue;
      }
      if (place_ >= text_.size()) wrong("a text has no end");
      const char kind = text_[place_++];
      constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
      if (const std::size_t found = names.find(kind); found != std::string_view::npos) {
        result += meanings[found];
      } else if (kind == 'u') {
        character(result);
      } else {
        wrong("a text has an unknown escape");
      }
    }
  }

  std::uint32_t four_digits() {
    std::uint32_t code = 0;
    if (text_.size() - place_ < 4) wrong("a text has no end");
    const char* const first = text_.data() + place_;
    if (std::from_chars(first, first + 4, code, 16).ptr != first + 4)
      wrong("a text has an unknown escape");
    place_ += 4;
    return code;
  }

  /// As UTF-8; two escapes may stand for one character.
  void character(std::string& result) {
    std::uint32_t code = four_digits();
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(place_, 2) == "\\u") {
      place_ += 2;
      code = 0x10000 + ((code - 0xD800) << 10) + ((four_digits() - 0xDC00) & 0x3FF);
    }
    const auto add = [&](std::uint32_t byte) { result += static_cast<char>(byte); };
    if (code < 0x80) {
      add(code);
    } else if (code < 0x800) {
      add(0xC0 | code >> 6), add(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      add(0xE0 | code >> 12), add(0x80 | (code >> 6 & 0x3F)), add(0x80 | (code & 0x3F));
    } else {
      add(0xF0 | code >> 18), add(0x80 | (code >> 12 & 0x3F));
      add(0x80 | (code >> 6 & 0x3F)), add(0x80 | (code & 0x3F));
    }
  }

  void word(std::string_view wanted) {
    if (text_.substr(place_, wanted.size()) != wanted) wrong("a value is missing");
    place_ += wanted.size();
  }

  void skip() {
    while (place_ < text_.size() &&
           std::string_view(" \t\n\r").find(text_[place_]) != std::string_view::npos)
      ++place_;
  }

  char next() {
    skip();
    if (place_ >= text_.size()) wrong("it ends too early");
    return text_[place_];
  }

  [[noreturn]] void wrong(const std::string& what) const {
    refuse("[load] " + source_ + " is no graph, or damaged, at byte " + std::to_string(place_) +
           ": " + what);
  }

  const std::string_view text_;
  const std::string source_;
  std::size_t place_ = 0;
};

}  // namespace

const Json* Json::member(std::string_view name) const {
  const auto found = members.find(name);
  return found == members.end() ? nullptr : &found->second;
}

Json json_from(std::string_view text, const std::string& source) {
  return Reader(text, source).read();
}

}  // namespace afterglow::c_api
