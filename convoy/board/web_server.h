// SPDX-License-Identifier: Apache-2.0
//
// WebServer: serves HTTP by libmicrohttpd, in a few threads that each wait for many
// connections at once. A client that sends or reads slowly delays no other.

#pragma once

#include <memory>

#include "convoy/board/connection_table.h"
#include "convoy/board/http_message.h"
#include "convoy/wire/socket.h"

namespace convoy {

class WebServer {
 public:
  /// Serves until it is destroyed. A request with a body of more than a few kilobytes is
  /// refused; an exception of the handler is answered by status 500. Throws InputError of
  /// kind `storage` if the system refuses.
  WebServer(Listener listener, HttpHandler handler, const ConnectionLimits& limits = {});

  /// Closes all connections, and waits for handlers that are running.
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  /// Closes connections that take too long. To be called about once per second.
  void close_slow();

 private:
  struct Daemon;
  std::unique_ptr<Daemon> daemon_;
};

/// The version of libmicrohttpd.
std::string http_library();

}  // namespace convoy
