// SPDX-License-Identifier: Apache-2.0

#include "convoy/job/token.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "convoy/base/error.h"
#include "convoy/system/file.h"
#include "convoy/wire/token_proof.h"

namespace convoy {
namespace {

constexpr std::size_t kFewest = 16;  // characters

InputError token_error(const std::string& where, const std::string& found,
                       const std::string& expected, const std::string& hint) {
  return {InputKind::admission,
          {.where = where, .found = found, .expected = expected, .hint = hint}};
}

void refuse_short(const std::string& token, const std::string& where) {
  if (token.size() >= kFewest) return;
  throw token_error(where, fmt::format("{} characters", token.size()),
                    fmt::format("a secret of at least {} characters", kFewest),
                    "openssl rand -hex 32 makes one");
}

std::string read_token(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) throw storage_error(path, "find a token", errno);
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw token_error("CONVOY_TOKEN_FILE: " + path,
                      fmt::format("mode {:04o}", about.st_mode & 07777U),
                      "a file that only its owner can read", "chmod 600 " + path);
  }
  std::string token = read_text(path);
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  return token;
}

}  // namespace

std::optional<std::string> token_of_environment(const Environment& environment) {
  const auto value = environment.find("CONVOY_TOKEN");
  if (value != environment.end() && !value->second.empty()) {
    refuse_short(value->second, "environment: CONVOY_TOKEN");
    return value->second;
  }
  const auto file = environment.find("CONVOY_TOKEN_FILE");
  if (file == environment.end() || file->second.empty()) return std::nullopt;
  std::string token = read_token(file->second);
  refuse_short(token, "CONVOY_TOKEN_FILE: " + file->second);
  return token;
}

std::string random_token() {
  std::string token;
  for (const std::byte byte : fresh_nonce()) {
    token += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  return token;
}

InputError no_token_error() {
  return token_error(
      "environment: CONVOY_TOKEN", "nothing",
      "the job's secret, the same on all machines",
      "export CONVOY_TOKEN=$(openssl rand -hex 32) on one, and copy it; or "
      "CONVOY_TOKEN_FILE=FILE; under Slurm a run.dir that all nodes share is enough");
}

}  // namespace convoy
