// SPDX-License-Identifier: Apache-2.0
//
// The server on real sockets, with clients that do not behave.

#include "convoy/board/web_server.h"

#include <gmock/gmock.h>

#include <thread>
#include <vector>

#include "convoy/base/clock.h"
#include "tests/board/http_client.h"

namespace convoy {
namespace {

using testing::HasSubstr;

/// A server that answers with the path of a request.
struct EchoServer {
  explicit EchoServer(const ConnectionLimits& limits = {}) {
    Listener listener = listen_on("127.0.0.1", 0);
    port = listener.port;
    server.emplace(
        std::move(listener),
        [](const HttpRequest& request) -> HttpResponse {
          if (request.path == "/fail") throw std::runtime_error("secret");
          return {.body = request.method + " " + request.path + " " + request.field("a")};
        },
        limits);
  }
  int port = 0;
  std::optional<WebServer> server;
};

TEST(WebServer, DecodesPathAndQuery) {
  EchoServer echo;
  EXPECT_EQ(ask(echo.port, "GET /x%20y?a=%31&b=2").body, "GET /x y 1");
}

TEST(WebServer, AnswersAFailureWithoutItsReason) {
  EchoServer echo;
  const HttpAnswer answer = ask(echo.port, "GET /fail");
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body.find("secret"), std::string::npos);
}

TEST(WebServer, RefusesLongHeadersAndBodies) {
  EchoServer echo;
  EXPECT_GE(ask(echo.port, "GET /", "X: " + std::string(100'000, 'x') + "\r\n").status,
            400);
  const Descriptor socket = connect_to_port(echo.port);
  send_text(socket, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" +
                        std::string(100'000, 'x'));
  EXPECT_EQ(receive_all(socket).find("200 OK"), std::string::npos);
}

TEST(WebServer, ContinuesAfterWhatIsNoHttp) {
  EchoServer echo;
  for (const char* garbage :
       {"\r\n\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01\x02",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"}) {
    const Descriptor socket = connect_to_port(echo.port);
    send_text(socket, garbage);
    EXPECT_EQ(ask(echo.port, "GET /").status, 200) << garbage;
  }
}

TEST(WebServer, AThousandSlowClientsDoNotStopIt) {
  reserve_descriptors(2000, "both ends of the connections of a test");
  EchoServer echo;
  std::vector<Descriptor> slow;
  const Stopwatch watch;
  for (int i = 0; i < 1000; ++i) {
    slow.push_back(connect_to_port(echo.port));
    send_text(slow.back(), i % 2 == 0 ? "GET / HTTP/1.1\r\nHost: 127" : "G");
    if (i % 100 != 99) continue;
    EXPECT_EQ(ask(echo.port, "GET /").status, 200) << "after " << i;
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask(echo.port, "GET /").status, 200);
  EXPECT_LT(watch.seconds(), 20);
}

TEST(WebServer, ClientsThatDoNotReadDoNotStopIt) {
  EchoServer echo;
  std::vector<Descriptor> deaf;
  for (int i = 0; i < 200; ++i) {
    deaf.push_back(connect_to_port(echo.port));
    send_text(deaf.back(), "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  }
  EXPECT_EQ(ask(echo.port, "GET /").status, 200);
}

TEST(WebServer, ClosesConnectionsThatTakeTooLong) {
  EchoServer echo({.request_seconds = 0.2});
  const Descriptor slow = connect_to_port(echo.port);
  send_text(slow, "GET / HT");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  echo.server->close_slow();
  const Stopwatch watch;
  EXPECT_EQ(receive_all(slow).find("200 OK"), std::string::npos);
  EXPECT_LT(watch.seconds(), 5);
}

TEST(WebServer, EndsWhileClientsAreConnected) {
  std::vector<Descriptor> clients;
  {
    EchoServer echo;
    for (int i = 0; i < 50; ++i) clients.push_back(connect_to_port(echo.port));
  }
  EXPECT_EQ(receive_all(clients.front()), "");
}

}  // namespace
}  // namespace convoy
