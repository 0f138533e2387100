// SPDX-License-Identifier: Apache-2.0
//
// Pages in a real browser: headless Chromium, driven by tests/pages/browser.mjs, which
// says what it checks. `script/bootstrap test` installs what it needs.

#include <gtest/gtest.h>

#include <filesystem>

#include "convoy/pages/report.h"
#include "convoy/pages/web_files.h"
#include "convoy/system/child_process.h"
#include "convoy/system/temporary_folder.h"
#include "test_places.h"
#include "tests/bootstrap_folder.h"
#include "tests/pages/shown_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

TEST(PagesInABrowser, ShowRunsAndAreUsableByEveryone) {
  const fs::path modules = bootstrap_folder("playwright");
  ASSERT_TRUE(fs::exists(modules / "node_modules" / "playwright-core"))
      << "script/bootstrap test installs " << modules;
  ASSERT_FALSE(surface_library().empty()) << "script/bootstrap installs it";
  const TemporaryFolder folder;
  const fs::path runs = folder.path() / "all";
  write_shown_run(runs / "<img src=x onerror=alert(1)>");
  Settings other;
  other.train.seed = 7;
  write_shown_run(runs / "other", other);
  WrittenRun(runs / "begun");
  write_atomically(runs / "sweep.json", shown_sweep());
  const fs::path one = folder.path() / "one.html", all = folder.path() / "all.html";
  write_report({.runs = {runs / "<img src=x onerror=alert(1)>"}, .out = one});
  write_report({.runs = {runs}, .out = all});
  const ProcessResult result = run_process(
      {"node", CONVOY_SOURCE_DIR "/tests/pages/browser.mjs", modules, one, all}, 120);
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

}  // namespace
}  // namespace convoy
