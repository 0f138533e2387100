// SPDX-License-Identifier: Apache-2.0
//
// convoy board as its user meets it: the command, the page in a browser, and Ctrl-C.

#include <csignal>

#include "tests/apps/small_run.h"
#include "tests/board/http_client.h"
#include "tests/bootstrap_folder.h"
#include "tests/pages/shown_run.h"

namespace convoy {
namespace {

using testing::HasSubstr;

/// A board on a free port.
struct ServedBoard {
  ServedBoard(const std::filesystem::path& folder, const Arguments& more = {})
      : process(Arguments{"board", "--port", "0"} + more, folder,
                // Where charts are, the user's home is not that of a test.
                {.environment = {
                     {"CONVOY_ECHARTS", (bootstrap_folder("echarts") /
                                         "node_modules/echarts/dist/echarts.min.js")
                                            .string()}}}) {
    EXPECT_TRUE(process.wait_for_output("Ctrl-C")) << process.err();
    const std::string text = process.out();
    const std::size_t begin = text.find("http://");
    address = text.substr(begin, text.find('\n', begin) - begin);
    port = std::stoi(address.substr(address.find(':', 7) + 1));
  }

  ConvoyProcess process;
  std::string address;
  int port = 0;
};

class BoardCommand : public ProgramTest {
 protected:
  BoardCommand() { make_folders(here() / "runs"); }
};

TEST_F(BoardCommand, ServesOnLoopbackUntilCtrlC) {
  train("a");
  ServedBoard board(here());
  EXPECT_THAT(board.address, HasSubstr("http://127.0.0.1:"));
  EXPECT_EQ(ask(board.port, "GET /").status, 200);
  const Descriptor idle = connect_to_port(board.port);

  board.process.send(SIGINT);
  const CommandResult result = board.process.wait(std::chrono::seconds(10));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
}

TEST_F(BoardCommand, IsRefusedWithoutAFolderOrAPort) {
  expect_refused(convoy({"board", "nothing"}), 74, {"nothing"});
  const ServedBoard board(here());
  expect_refused(convoy({"board", "--port", std::to_string(board.port)}), 78,
                 {std::to_string(board.port)});
}

TEST_F(BoardCommand, IsNotReadWithoutTokenWhereOthersReachIt) {
  const ServedBoard board(here(), {"--host", "0.0.0.0"});
  EXPECT_EQ(ask(board.port, "GET /api/runs").status, 401);
  const std::string token = board.address.substr(board.address.find("token=") + 6);
  EXPECT_EQ(token.size(), 64u);
  EXPECT_EQ(
      ask(board.port, "GET /api/runs", "Authorization: Bearer " + token + "\r\n").status,
      200);
}

TEST_F(BoardCommand, ShowsInABrowserHowARunGrowsAndStopsIt) {
  train("other");
  const std::filesystem::path study = here() / "runs" / "study";
  for (const char* name : {"a", "b"}) {
    Settings settings;
    settings.train.seed = static_cast<std::uint64_t>(name[0]);
    write_shown_run(study / name, settings);
  }
  write_atomically(study / "sweep.json", shown_sweep());
  ConvoyProcess growing(
      small_training("growing", {"train.epochs=100000", "inject.delay=20"}), here());
  ASSERT_TRUE(growing.wait_for_output("Epoch: 1")) << growing.err();
  const ServedBoard board(here());
  const CommandResult browser =
      run_convoy({"node", CONVOY_SOURCE_DIR "/tests/board/live_page.mjs",
                  bootstrap_folder("playwright").string(), board.address},
                 here(), {.program = "/usr/bin/env", .environment = {}});
  EXPECT_EQ(browser.code, 0) << browser.out << browser.err;
  EXPECT_EQ(growing.wait().code, 75) << "stopped, with a checkpoint to resume from";
}

}  // namespace
}  // namespace convoy
