// SPDX-License-Identifier: Apache-2.0

#include "convoy/board/connection_table.h"

#include <sys/socket.h>

#include <algorithm>
#include <vector>

namespace convoy {

void ConnectionTable::add(int socket, const std::string& address) {
  const std::lock_guard lock(mutex_);
  if (open_of(&address) >= limits_.per_address) close_any_of(&address);
  if (open_of(nullptr) >= limits_.connections) close_any_of(nullptr);
  connections_.insert_or_assign(socket, Connection{.address = address});
}

void ConnectionTable::remove(int socket) {
  const std::lock_guard lock(mutex_);
  connections_.erase(socket);
}

void ConnectionTable::begin_answer(int socket) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(socket);
  if (found == connections_.end()) return;
  found->second.answering = true;
  found->second.since.restart();
}

void ConnectionTable::end_answer(int socket) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(socket);
  if (found == connections_.end()) return;
  found->second.answering = false;
  found->second.since.restart();
}

void ConnectionTable::close_slow() {
  const std::lock_guard lock(mutex_);
  for (auto& [socket, connection] : connections_) {
    const double most =
        connection.answering ? limits_.answer_seconds : limits_.request_seconds;
    if (connection.since.seconds() > most) close(socket, connection);
  }
}

std::size_t ConnectionTable::size() const {
  const std::lock_guard lock(mutex_);
  return connections_.size();
}

/// Of an address, or in all.
std::size_t ConnectionTable::open_of(const std::string* address) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(connections_, [&](const auto& each) {
        const Connection& connection = each.second;
        return !connection.closed &&
               (address == nullptr || connection.address == *address);
      }));
}

void ConnectionTable::close_any_of(const std::string* address) {
  std::vector<int> idle;
  for (const auto& [socket, connection] : connections_) {
    if (connection.closed || connection.answering) continue;
    if (address == nullptr || connection.address == *address) idle.push_back(socket);
  }
  if (idle.empty()) return;
  std::uniform_int_distribution<std::size_t> any(0, idle.size() - 1);
  const int socket = idle[any(random_)];
  close(socket, connections_.at(socket));
}

/// The server's thread sees the end of the stream, and closes the socket.
void ConnectionTable::close(int socket, Connection& connection) {
  if (!connection.closed) ::shutdown(socket, SHUT_RDWR);
  connection.closed = true;
}

}  // namespace convoy
