// SPDX-License-Identifier: Apache-2.0
// Serving an exported model from several threads, which share its weights:
//
//   serve net-symbol.json net-0000.params requests.params
//
// Each array in the last file is a request. Prints the outputs of each, in their order.
#include <afterglow/afterglow.hpp>
#include <cstdio>
#include <thread>

using namespace afterglow::cpp;

int main(int count, char** arguments) {
  if (count != 4) {
    std::printf("usage: %s SYMBOL PARAMS REQUESTS\n", arguments[0]);
    return 2;
  }
  try {
    const Model model(arguments[1], arguments[2]);
    const std::string input = model.ListInputs().at(0);
    std::vector<NDArray> requests;
    for (const auto& [name, array] : NDArray::LoadToMap(arguments[3])) requests.push_back(array);
    std::vector<std::vector<float>> answers(requests.size());
    std::vector<std::string> errors(requests.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          answers[i] = model.Forward({{input, requests[i]}})[0].read();
        } catch (const Error& error) {
          errors[i] = error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (!errors[i].empty()) throw Error("MXNetError", errors[i].c_str());
      for (const float one : answers[i]) std::printf("%.9g ", static_cast<double>(one));
      std::printf("\n");
    }
    return 0;
  } catch (const Error& error) {
    std::printf("%s: %s\n", error.kind().c_str(), error.what());
    return 1;
  }
}
