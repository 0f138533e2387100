// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's own answer: a script of ours beside the test, fed with JSON.
//
// Importing PyTorch takes seconds, so one process per test program does it, and runs
// every script in a child of its own (torch_server.py).

#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "test_places.h"
#include "tests/apps/convoy_process.h"

namespace convoy {

class TorchServer {
 public:
  static TorchServer& instance() {
    static TorchServer server;
    return server;
  }

  /// Runs a script as `/usr/bin/python3 ARGUMENTS` does in that folder.
  CommandResult run(const std::vector<std::string>& arguments,
                    const std::filesystem::path& folder, const std::string& input = "") {
    const std::string name = std::to_string(++asked_);
    const nlohmann::json request = {
        {"folder", folder.string()}, {"arguments", arguments}, {"input", input}};
    write_atomically(files_.path() / (name + ".request"), request.dump());
    const std::filesystem::path file = files_.path() / (name + ".answer");
    if (!process_.wait_until([&] { return std::filesystem::exists(file); },
                             std::chrono::minutes(5))) {
      throw std::runtime_error("no answer from torch_server.py\n" + process_.err());
    }
    const nlohmann::json answer = nlohmann::json::parse(read_text(file));
    return {.code = answer.at("code"), .out = answer.at("out"), .err = answer.at("err")};
  }

 private:
  TemporaryFolder files_;
  ConvoyProcess process_{
      {CONVOY_SOURCE_DIR "/tests/torch_server.py", files_.path().string()},
      files_.path(),
      {.program = "/usr/bin/python3"}};
  int asked_ = 0;
};

/// What `script`, a path below tests/, prints when it reads the request.
inline nlohmann::json ask_torch(const std::string& script,
                                const nlohmann::json& request) {
  const CommandResult result = TorchServer::instance().run(
      {CONVOY_SOURCE_DIR "/tests/" + script}, "/", request.dump());
  if (result.code != 0) throw std::runtime_error(result.err);
  return nlohmann::json::parse(result.out);
}

}  // namespace convoy
