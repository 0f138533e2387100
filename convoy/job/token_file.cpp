// SPDX-License-Identifier: Apache-2.0

#include "convoy/job/token_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <thread>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/system/descriptor.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

// What a file begins with, and what a complete one ends with.
constexpr std::string_view kTokenMark = "token ", kFailureMark = "failed ",
                           kEnd = "\nend";
constexpr auto kTokenPoll = std::chrono::milliseconds(50);

bool is_private(int file) {
  struct stat about {};
  return ::fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
         about.st_uid == ::getuid() && (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/// Returns the content of a file that is complete and readable by this user only.
std::optional<std::string> read_private(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file || !is_private(file.get())) return std::nullopt;
  std::array<char, 4096> block;
  const ssize_t got = ::read(file.get(), block.data(), block.size());
  std::string text(block.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  if (!text.ends_with(kEnd)) return std::nullopt;
  text.resize(text.size() - kEnd.size());
  return text;
}

void write_new(const fs::path& path, const std::string& text) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file && errno == EEXIST) {
    throw InputError(InputKind::admission,
                     {.where = path,
                      .found = "a file that exists already",
                      .expected = "no file: this job makes it",
                      .hint = "remove it, or set CONVOY_TOKEN on all nodes"});
  }
  if (!file || ::write(file.get(), text.data(), text.size()) !=
                   static_cast<ssize_t>(text.size())) {
    throw storage_error(path, "write this file", errno);
  }
}

}  // namespace

std::optional<fs::path> TokenFile::path_of(const JobPlacement& placement,
                                           const Environment& environment,
                                           const fs::path& folder) {
  const bool by_slurm = placement.launcher_kind == LauncherKind::slurm &&
                        environment.contains("SLURM_JOB_ID") && placement.nodes > 1;
  if (!by_slurm || folder.empty()) return std::nullopt;
  std::string job = placement.job;
  const auto restarts = environment.find("SLURM_RESTART_COUNT");
  if (restarts != environment.end()) job += "." + restarts->second;
  std::ranges::replace_if(
      job, [](unsigned char c) { return !std::isalnum(c) && c != '.'; }, '_');
  return folder / fmt::format(".convoy-{}.token", job);
}

std::string TokenFile::wait_for(const fs::path& path, std::chrono::milliseconds timeout) {
  for (const auto deadline = Steady::now() + timeout; Steady::now() < deadline;) {
    const std::string text = read_private(path).value_or("");
    if (text.starts_with(kTokenMark)) return text.substr(kTokenMark.size());
    if (text.starts_with(kFailureMark)) {
      throw PeerError(0,
                      "cannot host the rendezvous: " + text.substr(kFailureMark.size()));
    }
    std::this_thread::sleep_for(kTokenPoll);
  }
  throw PeerError(0,
                  fmt::format("timed out waiting for the job's token in {} ({} s, "
                              "cluster.timeout); set CONVOY_TOKEN on all nodes if they "
                              "do not share this folder",
                              path.string(), timeout.count() / 1000));
}

TokenFile::~TokenFile() {
  std::error_code ignored;
  if (has_token_) fs::remove(path_, ignored);
}

void TokenFile::write_token(const std::string& token) {
  write_new(path_, fmt::format("{}{}{}", kTokenMark, token, kEnd));
  has_token_ = true;
}

void TokenFile::write_failure(const std::string& reason) {
  write_new(path_, fmt::format("{}{:.2000}{}", kFailureMark, reason, kEnd));
}

Listener listen_as_host(const std::string& address, int port, const std::string& token,
                        TokenFile* file) {
  try {
    Listener listener = listen_on(address, port);
    if (file) file->write_token(token);
    return listener;
  } catch (const InputError& error) {
    if (file && error.kind() == InputKind::settings) file->write_failure(error.what());
    throw;
  }
}

}  // namespace convoy
