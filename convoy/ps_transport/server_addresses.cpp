// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps_transport/server_addresses.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <span>
#include <string>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"

namespace convoy {
namespace {

std::string key_of(int server) { return fmt::format("ps/server/{}", server); }

/// An IPv6 address contains colons: the port is after the last one.
std::optional<ServerAddress> parse(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  ServerAddress address{.host = text.substr(0, colon)};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, address.port);
  const bool is_port =
      error == std::errc() && rest == end && address.port > 0 && address.port <= 65535;
  return is_port ? std::optional(address) : std::nullopt;
}

std::string text_at(KeyValueStore& store, int server, Steady::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::max(deadline - Steady::now(), Steady::duration::zero()));
  try {
    const std::vector<std::byte> bytes = store.get(key_of(server), left);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  } catch (const PeerError& error) {
    throw PeerError(server, fmt::format("parameter server {} has not published "
                                        "its address ({})",
                                        server, error.what()));
  }
}

}  // namespace

void publish_server(KeyValueStore& store, int server, const ServerAddress& address) {
  const std::string text = fmt::format("{}:{}", address.host, address.port);
  store.set(key_of(server), std::as_bytes(std::span(text)));
}

std::vector<ServerAddress> find_servers(KeyValueStore& store, int servers,
                                        std::chrono::milliseconds timeout) {
  const Steady::time_point deadline = Steady::now() + timeout;
  std::vector<ServerAddress> addresses;
  for (int server = 0; server < servers; ++server) {
    const std::string text = text_at(store, server, deadline);
    const std::optional<ServerAddress> address = parse(text);
    if (!address) {
      throw PeerError(server, fmt::format("parameter server {} has published '{}', "
                                          "which is not an address",
                                          server, text));
    }
    addresses.push_back(*address);
  }
  return addresses;
}

}  // namespace convoy
