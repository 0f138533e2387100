// SPDX-License-Identifier: Apache-2.0
//
// Another program's own answer: a Python script of ours beside the test, fed with JSON.

#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "test_places.h"
#include "tests/apps/convoy_process.h"

namespace convoy {

/// What `script`, a path below tests/, prints when it reads the request.
inline nlohmann::json ask_python(const std::string& script,
                                 const nlohmann::json& request) {
  const TemporaryFolder here;
  write_atomically(here.path() / "request.json", request.dump());
  const CommandResult result =
      run_convoy({"-c", "exec /usr/bin/python3 " CONVOY_SOURCE_DIR "/tests/" + script +
                            " < request.json"},
                 here.path(), {.program = "/bin/sh"});
  if (result.code != 0) throw std::runtime_error(result.err);
  return nlohmann::json::parse(result.out);
}

}  // namespace convoy
