// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "convoy/base/printable.h"

namespace convoy {
namespace {

/// Names and values come from files, which may contain escape sequences.
std::string describe(const Fault& fault) {
  std::string text =
      fault.where + "\n  found:    " + fault.found + "\n  expected: " + fault.expected;
  if (!fault.hint.empty()) text += "\n  hint:     " + fault.hint;
  return printable(text);
}

std::string hint_for(int errno_value) {
  switch (errno_value) {
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose another folder";
    case EACCES:
    case EPERM:
    case EROFS:
      return "check the permissions or choose another folder";
    default:
      return "";
  }
}

}  // namespace

InputError::InputError(InputKind kind, const Fault& fault)
    : std::runtime_error(describe(fault)), kind_(kind) {}

InputError storage_error(const std::string& path, const std::string& attempted,
                         int errno_value) {
  return {InputKind::storage,
          {.where = path,
           .found = std::strerror(errno_value),
           .expected = "to " + attempted,
           .hint = hint_for(errno_value)}};
}

PeerError::PeerError(int rank, const std::string& what_we_waited_for)
    : std::runtime_error(
          printable((rank == kAnyRank ? "any rank" : "rank " + std::to_string(rank)) +
                    ": " + what_we_waited_for)),
      rank_(rank) {}

void check(bool holds, std::string_view claim, const char* file, int line) {
  if (holds) return;
  std::fprintf(stderr, "convoy: bug: this should hold: %.*s (%s:%d)\n",
               static_cast<int>(claim.size()), claim.data(), file, line);
  std::abort();
}

}  // namespace convoy
