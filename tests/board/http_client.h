// SPDX-License-Identifier: Apache-2.0
//
// A client that sends the bytes a test wants, over a socket of its own.

#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "convoy/system/descriptor.h"

namespace convoy {

inline Descriptor connect_to_port(int port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) !=
      0) {
    throw std::runtime_error("cannot connect");
  }
  return socket;
}

inline void send_text(const Descriptor& socket, std::string_view text) {
  [[maybe_unused]] const ssize_t sent =
      ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

/// What arrives until the server closes the connection, or ten seconds pass.
inline std::string receive_all(const Descriptor& socket) {
  std::string text;
  char block[1 << 16];
  pollfd waiting{.fd = socket.get(), .events = POLLIN, .revents = 0};
  while (::poll(&waiting, 1, 10'000) == 1) {
    const ssize_t got = ::recv(socket.get(), block, sizeof(block), 0);
    if (got <= 0) break;
    text.append(block, static_cast<std::size_t>(got));
  }
  return text;
}

struct HttpAnswer {
  int status = 0;
  std::string head, body;
};

/// Sends a request with these header lines; without a Host line, that of the port.
inline HttpAnswer ask(int port, const std::string& line,
                      const std::string& headers = "") {
  const Descriptor socket = connect_to_port(port);
  const bool has_host = headers.find("Host:") != std::string::npos;
  send_text(
      socket,
      fmt::format("{} HTTP/1.1\r\n{}{}Connection: close\r\n\r\n", line,
                  has_host ? "" : fmt::format("Host: 127.0.0.1:{}\r\n", port), headers));
  const std::string text = receive_all(socket);
  HttpAnswer answer;
  const std::size_t end = text.find("\r\n\r\n");
  if (text.size() > 12) answer.status = std::stoi("0" + text.substr(9, 3));
  answer.head = text.substr(0, end);
  if (end != text.npos) answer.body = text.substr(end + 4);
  return answer;
}

}  // namespace convoy
