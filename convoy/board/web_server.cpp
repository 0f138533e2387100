// SPDX-License-Identifier: Apache-2.0

#include "convoy/board/web_server.h"

#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <exception>

#include "convoy/base/error.h"

namespace convoy {
namespace {

constexpr unsigned kThreads = 4;
constexpr std::size_t kConnectionBytes = std::size_t{1} << 15;  // headers of a request
constexpr std::size_t kMostBodyBytes = std::size_t{1} << 12;

/// What is known of a request between the calls of its handler.
struct Incoming {
  std::size_t body_bytes = 0;
};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

MHD_Result add_header(void* request, MHD_ValueKind, const char* name, const char* value) {
  auto& headers = static_cast<HttpRequest*>(request)->headers;
  std::string& known = headers[lower(name)];
  // Two values are none that a rule accepts.
  known += (known.empty() ? "" : ",") + std::string(value == nullptr ? "" : value);
  return MHD_YES;
}

MHD_Result add_field(void* request, MHD_ValueKind, const char* name, const char* value) {
  static_cast<HttpRequest*>(request)->query.emplace(name, value == nullptr ? "" : value);
  return MHD_YES;
}

HttpRequest request_of(MHD_Connection* connection, const char* method, const char* path) {
  HttpRequest request{.method = method, .path = path};
  MHD_get_connection_values(connection, MHD_HEADER_KIND, add_header, &request);
  MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_field, &request);
  return request;
}

int socket_of(MHD_Connection* connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
      ->connect_fd;
}

std::string address_of(MHD_Connection* connection) {
  const sockaddr* address =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
          ->client_addr;
  char text[NI_MAXHOST] = "";
  const socklen_t length =
      address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  ::getnameinfo(address, length, text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
  return text;
}

MHD_Result send(MHD_Connection* connection, const HttpResponse& response) {
  // The copy is libmicrohttpd's, which sends it as fast as the client reads.
  MHD_Response* sent = MHD_create_response_from_buffer(
      response.body.size(), const_cast<char*>(response.body.data()),
      MHD_RESPMEM_MUST_COPY);
  if (sent == nullptr) return MHD_NO;
  MHD_add_response_header(sent, "Content-Type", response.type.c_str());
  for (const auto& [name, value] : response.headers) {
    MHD_add_response_header(sent, name.c_str(), value.c_str());
  }
  const MHD_Result result =
      MHD_queue_response(connection, static_cast<unsigned>(response.status), sent);
  MHD_destroy_response(sent);
  return result;
}

}  // namespace

struct WebServer::Daemon {
  Daemon(HttpHandler given, const ConnectionLimits& limits)
      : handler(std::move(given)), table(limits) {}

  /// Called once when the headers have arrived, once per piece of a body, and once when
  /// the request is complete.
  static MHD_Result handle(void* self, MHD_Connection* connection, const char* path,
                           const char* method, const char*, const char*,
                           std::size_t* body_bytes, void** state) {
    auto& daemon = *static_cast<Daemon*>(self);
    if (*state == nullptr) {
      *state = new Incoming();
      return MHD_YES;
    }
    if (*body_bytes > 0) {
      auto& incoming = *static_cast<Incoming*>(*state);
      incoming.body_bytes += *body_bytes;
      *body_bytes = 0;
      return incoming.body_bytes > kMostBodyBytes ? MHD_NO : MHD_YES;
    }
    daemon.table.begin_answer(socket_of(connection));
    return send(connection, daemon.answer(request_of(connection, method, path)));
  }

  /// No exception may reach libmicrohttpd, which is C.
  HttpResponse answer(const HttpRequest& request) const noexcept try {
    return handler(request);
  } catch (const std::exception&) {
    return {.status = 500, .body = R"({"error": "the server failed"})"};
  }

  static void completed(void* self, MHD_Connection* connection, void** state,
                        MHD_RequestTerminationCode) {
    delete static_cast<Incoming*>(*state);
    *state = nullptr;
    static_cast<Daemon*>(self)->table.end_answer(socket_of(connection));
  }

  static void notify(void* self, MHD_Connection* connection, void**,
                     MHD_ConnectionNotificationCode code) {
    ConnectionTable& table = static_cast<Daemon*>(self)->table;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      table.add(socket_of(connection), address_of(connection));
    } else {
      table.remove(socket_of(connection));
    }
  }

  HttpHandler handler;
  ConnectionTable table;
  MHD_Daemon* daemon = nullptr;
};

WebServer::WebServer(Listener listener, HttpHandler handler,
                     const ConnectionLimits& limits)
    : daemon_(std::make_unique<Daemon>(std::move(handler), limits)) {
  // Signals are left to the application's threads.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  daemon_->daemon = MHD_start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL, 0, nullptr, nullptr,
      &Daemon::handle, daemon_.get(),                   //
      MHD_OPTION_LISTEN_SOCKET, listener.socket.get(),  //
      MHD_OPTION_THREAD_POOL_SIZE, kThreads,            //
      // More than the table's, so that it sees a connection and closes another.
      MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(2 * limits.connections),
      MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(limits.request_seconds),
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes,            //
      MHD_OPTION_STRICT_FOR_CLIENT, 1,                                 //
      MHD_OPTION_NOTIFY_COMPLETED, &Daemon::completed, daemon_.get(),  //
      MHD_OPTION_NOTIFY_CONNECTION, &Daemon::notify, daemon_.get(),    //
      MHD_OPTION_END);
  const int cause = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (daemon_->daemon == nullptr) {
    throw storage_error(listener.address, "serve HTTP at this address", cause);
  }
  listener.socket.release();  // libmicrohttpd closes it
}

WebServer::~WebServer() { MHD_stop_daemon(daemon_->daemon); }

void WebServer::close_slow() { daemon_->table.close_slow(); }

std::string http_library() { return std::string("libmicrohttpd ") + MHD_get_version(); }

}  // namespace convoy
