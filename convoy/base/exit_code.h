// SPDX-License-Identifier: Apache-2.0
//
// ExitCode: how a command ended, for scripts. The codes are part of the public contract.
// kExitCodes is the only table of their meanings: messages use it, and a test compares
// docs/design.md with it.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "convoy/base/error.h"

namespace convoy {

enum class ExitCode {
  done = 0,
  bug = 1,
  usage = 2,
  bad_data = 65,
  peer_unreachable = 69,
  rank_failed = 70,
  cannot_read_write = 74,
  stopped = 75,
  not_admitted = 77,
  bad_settings = 78,
  diverged = 79,
  interrupted_twice = 130
};

struct ExitCodeMeaning {
  ExitCode code;
  std::string_view meaning;
  std::string_view details{};  // what the documentation adds
};

inline constexpr std::array kExitCodes = {
    ExitCodeMeaning{ExitCode::done, "done"},
    ExitCodeMeaning{ExitCode::bug, "a bug in convoy"},
    ExitCodeMeaning{ExitCode::usage, "a wrong command line"},
    ExitCodeMeaning{ExitCode::bad_data, "bad data or checkpoint"},
    ExitCodeMeaning{ExitCode::peer_unreachable,
                    "a peer or the rendezvous cannot be reached"},
    ExitCodeMeaning{ExitCode::rank_failed, "a rank failed", "; the message names it"},
    ExitCodeMeaning{ExitCode::cannot_read_write, "cannot read or write, or out of memory",
                    ": a file, a folder, the system's limits"},
    ExitCodeMeaning{ExitCode::stopped, "stopped on request",
                    " (Ctrl-C, SIGTERM, SIGUSR1, `train.max_minutes`), at a step's end, "
                    "with a checkpoint"},
    ExitCodeMeaning{
        ExitCode::not_admitted, "not admitted",
        " to the job: no token, another token, or a rank that is already taken"},
    ExitCodeMeaning{ExitCode::bad_settings, "bad settings"},
    ExitCodeMeaning{ExitCode::diverged, "diverged: the loss is not finite"},
    ExitCodeMeaning{ExitCode::interrupted_twice, "interrupted twice"}};

/// Returns the row of a code, or null if convoy never exits with it.
constexpr const ExitCodeMeaning* find_exit_code(std::int64_t number) {
  const auto* const row = std::ranges::find(
      kExitCodes, number,
      [](const ExitCodeMeaning& one) { return static_cast<std::int64_t>(one.code); });
  return row == kExitCodes.end() ? nullptr : row;
}

/// Converts a code sent by another process. An unknown code is a bug of the sender.
constexpr ExitCode exit_code_of(std::int64_t number) {
  const ExitCodeMeaning* const row = find_exit_code(number);
  return row ? row->code : ExitCode::bug;
}

inline ExitCode exit_code(InputKind kind) {
  switch (kind) {
    case InputKind::usage:
      return ExitCode::usage;
    case InputKind::settings:
      return ExitCode::bad_settings;
    case InputKind::data:
      return ExitCode::bad_data;
    case InputKind::storage:
      return ExitCode::cannot_read_write;
    case InputKind::admission:
      return ExitCode::not_admitted;
  }
  return ExitCode::bug;
}

}  // namespace convoy
