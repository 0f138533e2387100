// SPDX-License-Identifier: Apache-2.0

#include "convoy/rendezvous/file_store.h"

#include <algorithm>
#include <thread>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/system/file.h"

namespace convoy {

void FileStore::set(const std::string& key, std::span<const std::byte> value) {
  AtomicFile file(path_of(key));
  file.write(value);
  file.commit();
}

std::vector<std::byte> FileStore::get(const std::string& key,
                                      std::chrono::milliseconds timeout) {
  const std::filesystem::path path = path_of(key);
  const Stopwatch watch;
  while (!std::filesystem::exists(path)) {
    if (watch.seconds() * 1000 >= static_cast<double>(timeout.count())) {
      throw PeerError(kAnyRank, "no process wrote " + path.string());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return read_bytes(path);
}

std::filesystem::path FileStore::path_of(std::string key) const {
  std::ranges::replace(key, '/', '.');
  return folder_ / key;
}

}  // namespace convoy
