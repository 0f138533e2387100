// SPDX-License-Identifier: Apache-2.0
//
// The board over real sockets: what it serves, to whom, and from what kind of folders.

#include "convoy/board/board.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "convoy/board/web_server.h"
#include "convoy/system/temporary_folder.h"
#include "tests/board/http_client.h"
#include "tests/compare/written_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

const std::string kToken = "00112233445566778899aabbccddeeff";

class BoardTest : public testing::Test {
 protected:
  WrittenRun finished(const std::string& name) const {
    WrittenRun run(runs() / name);
    run.write_summary();
    run.write_metrics();
    return run;
  }
  fs::path runs() const { return here.path() / "runs"; }

  /// Serves the folder as if it had been told to listen on that host.
  void serve(const std::string& host = "127.0.0.1") {
    make_folders(runs());
    Listener listener = listen_on("127.0.0.1", 0);
    port = listener.port;
    board.emplace(runs(), AccessRules{.host = host, .port = port, .token = kToken});
    server.emplace(std::move(listener),
                   [this](const HttpRequest& request) { return board->answer(request); });
    board->runs().wait_for_scan();
  }
  HttpAnswer get(const std::string& path, const std::string& headers = "") const {
    return ask(port, "GET " + path, headers);
  }
  std::string cookie() const {
    return fmt::format("Cookie: convoy-board-{}={}\r\n", port, kToken);
  }

  TemporaryFolder here;
  int port = 0;
  std::optional<Board> board;
  std::optional<WebServer> server;
};

TEST_F(BoardTest, ServesThePageAndTheRuns) {
  finished("a");
  serve();
  const HttpAnswer page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.head, AllOf(HasSubstr("Content-Type: text/html"),
                               HasSubstr("X-Content-Type-Options: nosniff"),
                               HasSubstr("Referrer-Policy: no-referrer"),
                               HasSubstr("frame-ancestors 'none'"),
                               Not(HasSubstr("Access-Control"))));
  EXPECT_THAT(page.body, HasSubstr(R"("live":{"base":"/")"));
  EXPECT_EQ(json::parse(get("/api/runs").body).at("runs").at(0).at("id"), "a");

  const json run = json::parse(get("/api/run/a").body);
  EXPECT_EQ(run.at("id"), "a");
  EXPECT_EQ(run.at("state"), "finished");
  EXPECT_GT(run.at("series").size(), 0u);
  const json both = json::parse(get("/api/page?run=a&run=nothing&run=a").body);
  EXPECT_EQ(both.at("runs").size(), 2u);
}

TEST_F(BoardTest, ThinsCurvesAndServesARangeInFull) {
  std::string lines;
  for (int step = 1; step <= 5000; ++step) {
    lines +=
        fmt::format(R"({{"kind":"step","step":{},"epoch":1,"loss":{},"accuracy":0.5}})"
                    "\n",
                    step, 5000 - step);
  }
  finished("a").write("metrics.jsonl", lines);
  serve();
  const auto loss = [](const json& run) {
    for (const json& series : run.at("series")) {
      if (series.at("name") == "train/loss") return series.at("x").size();
    }
    return std::size_t{0};
  };
  EXPECT_LE(loss(json::parse(get("/api/run/a?points=100").body)), 100u);
  EXPECT_EQ(loss(json::parse(get("/api/run/a?points=9000&from=101&to=300").body)), 200u);
  for (const char* odd : {"points=x", "points=-1", "points=99999999999999999999",
                          "from=x", "from=5&to=1", "from=%00", "points"}) {
    EXPECT_EQ(get(std::string("/api/run/a?") + odd).status, 200) << odd;
  }
}

TEST_F(BoardTest, ServesNothingOutsideItsFolder) {
  write_atomically(here.path() / "secret.txt", "secret-text");
  write_atomically(here.path() / "config.yaml", "secret-text: 1\n");
  const WrittenRun run = finished("a");
  fs::create_directory_symlink(here.path(), runs() / "out");
  fs::remove(run.path / "summary.json");
  fs::create_symlink(here.path() / "secret.txt", run.path / "summary.json");
  finished("whole");
  serve();
  for (const char* path :
       {"/../secret.txt", "/api/run/../secret.txt", "/api/run/..", "/api/run/%2e%2e",
        "/api/run/%2e%2e%2fsecret.txt", "/api/run/..%2f..%2fetc%2fpasswd", "/api/run/out",
        "/api/run/%2fetc%2fpasswd", "/api/run//etc/passwd", "/api/run/a/summary.json",
        "/api/run/whole/../../secret.txt", "/api/run/whole%00/../..", "/secret.txt",
        "/api/run/%252e%252e", "/api/run/a", "/api/run/out/runs/whole",
        "/api/page?run=..", "/api/page?run=a"}) {
    const HttpAnswer answer = get(path);
    EXPECT_THAT(answer.status, AnyOf(404, 400, 200)) << path;
    EXPECT_THAT(answer.body, Not(AnyOf(HasSubstr("secret-text"), HasSubstr("root:"))))
        << path;
  }
  EXPECT_EQ(get("/api/run/a").status, 404) << "it has a link out of its folder";
  EXPECT_EQ(get("/api/run/whole").status, 200);
  EXPECT_THAT(get("/api/runs").body, Not(HasSubstr("secret-text")));
}

TEST_F(BoardTest, ShowsWhatItCanOfHostileRuns) {
  finished("</script><script>alert(1)</script>").write("metrics.jsonl", "{]\n");
  finished("lines").write("metrics.jsonl",
                          std::string(10 << 20, 'x') + "\n" + eval_line(1, 0.5));
  finished("deep").write("metrics.jsonl", std::string(1 << 20, '[') + "\n");
  finished("config").write("config.yaml", "train: {epochs: [[[[\n");
  finished("numbers").write("metrics.jsonl",
                            R"({"kind":"step","step":1e300,"epoch":-1,"loss":"x"})"
                            "\n");
  finished("empty").write("summary.json", "");
  serve();
  const json answer = json::parse(get("/api/runs").body);
  EXPECT_EQ(answer.at("runs").size(), 6u);
  for (const char* name : {"lines", "deep", "config", "numbers", "empty"}) {
    const HttpAnswer run = get(std::string("/api/run/") + name);
    EXPECT_EQ(run.status, 200) << name;
    EXPECT_TRUE(json::accept(run.body)) << name;
  }
  const HttpAnswer odd =
      get("/api/run/%3C%2Fscript%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E");
  EXPECT_EQ(odd.status, 200);
  EXPECT_THAT(odd.head, HasSubstr("Content-Type: application/json"));
  EXPECT_THAT(get("/").body, Not(HasSubstr("alert(1)")));
}

TEST_F(BoardTest, ARunThatVanishesIsNotFound) {
  const WrittenRun run = finished("a");
  serve();
  fs::remove_all(run.path);
  EXPECT_EQ(get("/api/run/a").status, 404);
  fs::remove_all(runs());
  board->runs().wait_for_scan();
  EXPECT_EQ(json::parse(get("/api/runs").body).at("runs").size(), 0u);
  EXPECT_EQ(get("/").status, 200);
}

TEST_F(BoardTest, RefusesOtherHostsAndOrigins) {
  finished("a");
  serve();
  for (const char* path : {"/", "/api/runs", "/api/run/a", "/?token=x"}) {
    EXPECT_EQ(get(path, "Host: evil.example\r\n").status, 421) << path;
    EXPECT_EQ(get(path, "Host: 127.0.0.1.evil.example\r\n").status, 421) << path;
    EXPECT_EQ(get(path, "Origin: http://evil.example\r\n").status, 403) << path;
    EXPECT_EQ(get(path, "Origin: null\r\n").status, 403) << path;
  }
  const std::string own = fmt::format("Origin: http://127.0.0.1:{}\r\n", port);
  EXPECT_EQ(get("/api/runs", own).status, 200);
}

TEST_F(BoardTest, NeedsTheTokenWhereOthersReachIt) {
  finished("a");
  serve("0.0.0.0");
  for (const char* path : {"/", "/api/runs", "/api/run/a", "/api/page?run=a", "/x"}) {
    const HttpAnswer answer = get(path);
    EXPECT_EQ(answer.status, 401) << path;
    EXPECT_THAT(answer.body, Not(HasSubstr("\"a\""))) << path;
    EXPECT_EQ(get(path, "Cookie: convoy-board-1=" + kToken + "\r\n").status, 401) << path;
  }
  EXPECT_EQ(get("/?token=0").status, 401);
  EXPECT_EQ(get("/api/runs", cookie()).status, 200);
  EXPECT_EQ(get("/api/runs", "Authorization: Bearer " + kToken + "\r\n").status, 200);
}

TEST_F(BoardTest, TheFirstAddressSetsTheCookieAndIsLeft) {
  serve("0.0.0.0");
  const HttpAnswer answer = get("/?token=" + kToken);
  EXPECT_EQ(answer.status, 303);
  EXPECT_THAT(
      answer.head,
      AllOf(HasSubstr("Location: /\r\n"),
            HasSubstr(fmt::format("Set-Cookie: convoy-board-{}={}; Path=/; HttpOnly; "
                                  "SameSite=Strict\r\n",
                                  port, kToken))));
  const HttpAnswer page = get("/", cookie());
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, Not(HasSubstr(kToken)));
}

TEST_F(BoardTest, StopsARunOnlyWithTheTokenAndOnlyOneThatIsTrainedHere) {
  finished("a");
  serve();
  const auto post = [&](const std::string& path, const std::string& headers = "") {
    return ask(port, "POST " + path, headers + "Content-Length: 0\r\n").status;
  };
  EXPECT_EQ(post("/api/stop/a"), 403) << "no token, although it is loopback";
  EXPECT_EQ(post("/api/stop/a", cookie() + "Origin: http://evil.example\r\n"), 403);
  EXPECT_EQ(post("/api/stop/a", cookie()), 409) << "nobody trains it";
  EXPECT_EQ(post("/api/stop/b", cookie()), 404);
  EXPECT_EQ(get("/api/stop/a", cookie()).status, 405);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"}) {
    EXPECT_EQ(
        ask(port, method + std::string(" /api/runs"), "Content-Length: 0\r\n").status,
        405)
        << method;
  }
}

}  // namespace
}  // namespace convoy
