// SPDX-License-Identifier: Apache-2.0

#include "convoy/rendezvous/job_keys.h"

#include <cstdlib>

#include "convoy/rendezvous/store_protocol.h"

namespace convoy {
namespace {

/// A number, a space, a text.
struct Numbered {
  int number;
  std::string text;
};

Numbered split(std::span<const std::byte> bytes) {
  const std::string all = text_of(bytes);
  const std::size_t space = all.find(' ');
  if (space == std::string::npos) return {0, all};
  return {std::atoi(all.c_str()), all.substr(space + 1)};
}

}  // namespace

std::string encode(const JobOutcome& outcome) {
  return std::to_string(static_cast<int>(outcome.code)) + " " + outcome.text;
}

JobOutcome decode_job_outcome(std::span<const std::byte> bytes) {
  const Numbered parts = split(bytes);
  return {static_cast<ExitCode>(parts.number), parts.text};
}

std::string encode(const LostSession& loss) {
  return std::to_string(loss.silent ? 1 : 0) + " " + loss.text;
}

LostSession decode_lost_session(std::span<const std::byte> bytes) {
  const Numbered parts = split(bytes);
  return {parts.number == 1, parts.text};
}

}  // namespace convoy
