// SPDX-License-Identifier: Apache-2.0
//
// Errors: three kinds, by who can do something about them.
//
//   InputError  the person running convoy: a bad setting, data file or checkpoint
//   PeerError   the cluster: a rank that died, or a message that never came
//   check()     us: a broken invariant, which is a bug and ends the process
//
// Library code neither prints nor exits, except in a failed check(). Only main() turns an
// exception into text and an exit code.

#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace convoy {

/// What is wrong with an input, in the order a reader asks. `hint` may be empty.
struct Fault {
  std::string where;     // the file and line, or the setting: "run.yaml:14: train.epochs"
  std::string found;     // what was found there: "-3"
  std::string expected;  // what is accepted: "a whole number from 1"
  std::string hint;      // what to try: "nearest name: train.epochs"
};

/// The kind of input. It decides the exit code (exit_code.h).
enum class InputKind {
  usage,     // the command line
  settings,  // a setting's name or value
  data,      // the content of a dataset or checkpoint
  storage,   // a file or folder that cannot be read or written
  admission  // a job's token, or a rank that is already taken
};

/// Bad input. Retrying without changing the input cannot help.
class InputError : public std::runtime_error {
 public:
  InputError(InputKind kind, const Fault& fault);

  InputKind kind() const { return kind_; }

 private:
  InputKind kind_;
};

/// Makes the error of a failed system call on `path`; `errno_value` says why.
InputError storage_error(const std::string& path, const std::string& attempted,
                         int errno_value);

/// The rank of a PeerError if an answer from any rank was expected.
inline constexpr int kAnyRank = -1;

/// A rank that did not answer. The Comm that threw it cannot be used any more.
class PeerError : public std::runtime_error {
 public:
  PeerError(int rank, const std::string& what_we_waited_for);

  int rank() const { return rank_; }

 private:
  int rank_;
};

/// Ends the process, naming the caller's line, unless `holds` is true.
///
/// Input never reaches a check: a user who can trigger one has found a bug.
void check(bool holds, std::string_view claim, const char* file = __builtin_FILE(),
           int line = __builtin_LINE());

}  // namespace convoy
