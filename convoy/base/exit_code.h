// SPDX-License-Identifier: Apache-2.0
//
// ExitCode: how a command ended, for scripts. Part of the public contract.

#pragma once

#include "convoy/base/error.h"

namespace convoy {

enum class ExitCode {
  done = 0,
  bug = 1,
  usage = 2,
  bad_data = 65,           // a dataset or checkpoint
  peer_unreachable = 69,   // a peer or the rendezvous
  rank_failed = 70,        // named
  cannot_read_write = 74,  // a file or folder
  stopped = 75,            // on request, with a checkpoint
  not_admitted = 77,
  bad_settings = 78,
  diverged = 79,  // the loss is not finite
  interrupted_twice = 130
};

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
