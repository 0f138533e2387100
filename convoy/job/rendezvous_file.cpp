// SPDX-License-Identifier: Apache-2.0

#include "convoy/job/rendezvous_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <thread>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/sha256.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
fs::path runtime_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime && *runtime && fs::is_directory(runtime))
    return fs::path(runtime) / "convoy";
  return fmt::format("/tmp/convoy-{}", ::getuid());
}

/// Creates the folder, or refuses one that another user may have created.
void make_private_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw storage_error(folder, "make this folder", errno);
  }
  struct stat about {};
  const bool is_ours = ::lstat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
                       about.st_uid == ::getuid() &&
                       (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  if (is_ours) return;
  throw InputError(InputKind::admission,
                   {.where = folder,
                    .found = "a folder that other users can access",
                    .expected = "a folder of mode 0700 that belongs to this user",
                    .hint = "remove it, or set CONVOY_TOKEN"});
}

fs::path path_of(const JobPlacement& placement) {
  const std::string name =
      fmt::format("{} {} {} {}", static_cast<int>(placement.launcher_kind),
                  placement.master_address, placement.master_port, placement.job);
  return runtime_folder() / sha256_hex(std::as_bytes(std::span(name))).substr(0, 32);
}

bool is_locked_by_another(int file) {
  if (::flock(file, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  ::flock(file, LOCK_UN);
  return false;
}

/// A reader that checks an old file holds its lock for an instant, so this tries several
/// times.
bool lock(int file) {
  for (int i = 0; i < 100; ++i) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

bool is_named(int file, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino;
}

/// Opens and locks the file of that name. Its last owner may remove it in between; then
/// the lock is useless, and this tries again.
Descriptor open_locked(const fs::path& path, const JobPlacement& placement) {
  for (;;) {
    Descriptor file(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) throw storage_error(path, "write this file", errno);
    if (!lock(file.get())) {
      throw InputError(InputKind::settings,
                       {.where = "rendezvous of " + describe(placement),
                        .found = "another running job with the same address and port",
                        .expected = "a different address or port for each job",
                        .hint = "use another MASTER_PORT"});
    }
    if (is_named(file.get(), path)) return file;
  }
}

/// Returns what a running rank 0 has written, if it has.
std::optional<RendezvousPoint> read_rendezvous_point(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file || !is_locked_by_another(file.get())) return std::nullopt;
  std::array<char, 256> text{};
  if (::read(file.get(), text.data(), text.size() - 1) <= 0) return std::nullopt;
  std::istringstream stream(text.data());
  RendezvousPoint meeting;
  std::string end;
  if (!(stream >> meeting.port >> meeting.token >> end) || end != "end")
    return std::nullopt;
  return meeting;
}

}  // namespace

RendezvousFile::RendezvousFile(const JobPlacement& placement,
                               const RendezvousPoint& meeting)
    : path_(path_of(placement)) {
  make_private_folder(path_.parent_path());
  file_ = open_locked(path_, placement);
  const std::string text = fmt::format("{} {} end\n", meeting.port, meeting.token);
  if (::ftruncate(file_.get(), 0) != 0 ||
      ::write(file_.get(), text.data(), text.size()) !=
          static_cast<ssize_t>(text.size())) {
    throw storage_error(path_, "write this file", errno);
  }
}

RendezvousFile::~RendezvousFile() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

RendezvousPoint RendezvousFile::wait_for(const JobPlacement& placement,
                                         std::chrono::milliseconds timeout) {
  const fs::path path = path_of(placement);
  make_private_folder(path.parent_path());
  for (const auto deadline = Steady::now() + timeout; Steady::now() < deadline;) {
    if (const auto meeting = read_rendezvous_point(path)) return *meeting;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  throw PeerError(0, fmt::format("timed out waiting for rank 0: {} s (cluster.timeout)",
                                 timeout.count() / 1000));
}

}  // namespace convoy
