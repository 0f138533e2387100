// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>

#include "apps/commands.h"
#include "convoy/base/printable.h"
#include "convoy/board/board.h"
#include "convoy/board/web_server.h"
#include "convoy/job/token.h"
#include "convoy/system/host_name.h"
#include "convoy/system/stop_request.h"

namespace convoy {
namespace {

struct BoardArguments {
  std::filesystem::path folder = "runs";
  std::string host = "127.0.0.1";
  int port = 6007;
};

/// The host of an address that a browser can open.
std::string shown_host(const std::string& host) {
  if (host == "0.0.0.0" || host == "::") return host_name();
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

void print_address(const AccessRules& rules, const BoardArguments& arguments) {
  fmt::print("board     {}\n", printable(arguments.folder.string()));
  fmt::print("open      http://{}:{}/?token={}\n", shown_host(rules.host), rules.port,
             rules.token);
  fmt::print("          Ctrl-C ends it\n");
  std::fflush(stdout);
}

ExitCode board(const BoardArguments& arguments) {
  const StopRequest stop;
  std::signal(SIGPIPE, SIG_IGN);
  const ConnectionLimits limits;
  reserve_descriptors(3 * limits.connections, "the connections of a board");
  Listener listener = listen_on(arguments.host, arguments.port);
  const AccessRules rules{
      .host = arguments.host, .port = listener.port, .token = random_token()};
  Board page(arguments.folder, rules);
  WebServer server(
      std::move(listener),
      [&page](const HttpRequest& request) { return page.answer(request); }, limits);
  print_address(rules, arguments);
  for (int i = 0; stop.signal() == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (i % 10 == 0) server.close_slow();
  }
  return ExitCode::done;
}

}  // namespace

void add_board_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<BoardArguments>();
  CLI::App* command =
      app.add_subcommand("board", "Serve a page of all runs in a folder, live");
  command->footer(
      "The page lists runs as they appear; curves grow while they train. The printed "
      "address has a token,\nwith which the page can stop a run of this machine. "
      "Everybody on this machine can read the page;\nwith a --host that is not loopback, "
      "only who has the token.\n\n"
      "Examples:\n"
      "  convoy board                              the runs in ./runs\n"
      "  convoy board runs/sweep --port 8080\n"
      "  convoy board --host 0.0.0.0               for other machines; not encrypted\n");
  command->add_option("folder", arguments->folder, "folder of runs (runs)");
  command->add_option("--port", arguments->port, "port (6007); 0: a free one")
      ->check(CLI::Range(0, 65535));
  command->add_option("--host", arguments->host,
                      "address or name to listen on (127.0.0.1)");
  command->callback(
      [arguments, &action] { action = [arguments] { return board(*arguments); }; });
}

}  // namespace convoy
