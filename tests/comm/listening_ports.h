// SPDX-License-Identifier: Apache-2.0
//
// listening_ports: the TCP ports at which this process listens, as the kernel tells.

#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace convoy {

/// "socket:[1234]" of every socket that this process has open.
inline std::set<std::string> own_sockets() {
  namespace fs = std::filesystem;
  std::set<std::string> sockets;
  std::error_code closed_meanwhile;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    const fs::path link = fs::read_symlink(entry.path(), closed_meanwhile);
    if (!closed_meanwhile) sockets.insert(link.string());
  }
  return sockets;
}

inline std::set<int> listening_ports() {
  const std::set<std::string> own = own_sockets();
  std::set<int> ports;
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);) {
    unsigned port = 0, state = 0;
    unsigned long inode = 0;
    const int found = std::sscanf(
        line.c_str(), "%*d: %*8x:%x %*8x:%*x %x %*x:%*x %*x:%*x %*x %*d %*d %lu", &port,
        &state, &inode);
    constexpr unsigned kListen = 0x0A;
    if (found != 3 || state != kListen) continue;
    if (own.contains("socket:[" + std::to_string(inode) + "]")) {
      ports.insert(static_cast<int>(port));
    }
  }
  return ports;
}

}  // namespace convoy
