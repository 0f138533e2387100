// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

namespace convoy {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

const std::string kClear = "\r\x1b[K";

/// A FILE* that writes into memory.
class Screen {
 public:
  Screen() : file_(::open_memstream(&text_, &size_)) {}
  ~Screen() {
    std::fclose(file_);
    std::free(text_);
  }

  std::FILE* file() { return file_; }
  std::string text() {
    std::fflush(file_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

ProgressState halfway() {
  return {.epoch = 2,
          .epochs = 3,
          .step = 469,
          .steps_in_epoch = 938,
          .part_done = 0.5,
          .loss = 0.30512,
          .accuracy = 0.9123,
          .images_per_second = 5210.4,
          .seconds_left = 75.2};
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++count;
  return count;
}

/// What a terminal of this width shows after the first update.
std::string bar_at_width(int width) {
  Screen screen;
  Progress progress(screen.file(), {.style = ProgressStyle::bar, .width = width});
  progress.update(halfway());
  return screen.text().substr(kClear.size());
}

TEST(ProgressOnATerminal, ShowsTheStateInOneLine) {
  EXPECT_EQ(bar_at_width(100),
            "epoch 2/3 [========>        ]   50%  step 469/938  loss 0.3051  acc 91.2%  "
            "5,210 images/s  ETA 1:15");
}

TEST(ProgressOnATerminal, PrefersTheBarToTheStepWhereThereIsNoRoomForBoth) {
  EXPECT_EQ(bar_at_width(80),
            "epoch 2/3 [=====>     ]   50%  loss 0.3051  acc 91.2%  5,210 images/s  "
            "ETA 1:15");
}

TEST(ProgressOnATerminal, FitsEveryWidth) {
  for (int width = 0; width <= 300; ++width) {
    EXPECT_LT(bar_at_width(width).size(), std::max(width, 2)) << width;
  }
}

TEST(ProgressOnATerminal, KeepsWhatMattersMostWhenNarrow) {
  EXPECT_EQ(bar_at_width(16), "epoch 2/3   50%");
  EXPECT_EQ(bar_at_width(40), "epoch 2/3   50%  loss 0.3051  ETA 1:15");
}

/// What a terminal shows while rank 2 is slow.
std::string bar_with_slow_rank(double slow_by, bool colour, int width = 120) {
  Screen screen;
  Progress progress(screen.file(),
                    {.style = ProgressStyle::bar, .width = width, .colour = colour});
  ProgressState state = halfway();
  state.slow_rank = 2;
  state.slow_by = slow_by;
  progress.update(state);
  return screen.text().substr(kClear.size());
}

TEST(ProgressOnATerminal, NamesTheSlowRank) {
  EXPECT_THAT(bar_with_slow_rank(0.35, false), EndsWith("ETA 1:15  rank 2 slow +35%"));
  EXPECT_THAT(bar_with_slow_rank(std::numeric_limits<double>::infinity(), false),
              EndsWith("  rank 2 slow"));
}

TEST(ProgressOnATerminal, HasColoursThatTakeNoRoom) {
  for (const int width : {30, 80, 120, 300}) {
    std::string coloured = bar_with_slow_rank(0.35, true, width);
    for (const char* code : {"\x1b[32m", "\x1b[33m", "\x1b[0m"}) {
      for (std::size_t at; (at = coloured.find(code)) != std::string::npos;) {
        coloured.erase(at, std::string(code).size());
      }
    }
    EXPECT_EQ(coloured, bar_with_slow_rank(0.35, false, width)) << width;
  }
  EXPECT_THAT(bar_with_slow_rank(0.35, true), HasSubstr("\x1b[32m[==="));
  EXPECT_THAT(bar_with_slow_rank(0.35, true),
              HasSubstr("\x1b[33mrank 2 slow +35%\x1b[0m"));
}

/// What is written in a style: of a state, a line that stays and a record.
std::string written_in(ProgressStyle style, char prefix = 0) {
  Screen screen;
  Progress progress(screen.file(),
                    {.style = style, .plain_seconds = 0, .line_prefix = prefix});
  progress.update(halfway());
  progress.line("saved");
  progress.record("{}");
  progress.finish();
  return screen.text();
}

TEST(Progress, MayBeLinesRecordsOrNothing) {
  EXPECT_EQ(written_in(ProgressStyle::quiet), "");
  EXPECT_EQ(written_in(ProgressStyle::json), "{}\n");
  EXPECT_EQ(written_in(ProgressStyle::log), "saved\n");
  EXPECT_EQ(written_in(ProgressStyle::log, '#'), "#saved\n");
}

TEST(Colours, AreNotWantedWithNoColor) {
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(colours_are_wanted());
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(colours_are_wanted()) << "set, but empty";
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(colours_are_wanted());
  ::unsetenv("NO_COLOR");
}

TEST(ProgressOnATerminal, IsDrawnAtMostTenTimesASecond) {
  Screen screen;
  Progress progress(screen.file(), {.style = ProgressStyle::bar, .width = 80});

  const auto start = std::chrono::steady_clock::now();
  std::size_t updates = 0;
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(350)) {
    progress.update(halfway());
    ++updates;
  }

  const std::size_t drawn = occurrences(screen.text(), kClear);
  EXPECT_GT(updates, 100u);
  EXPECT_GE(drawn, 2u);
  EXPECT_LE(drawn, 5u);
}

TEST(ProgressOnATerminal, PrintsLinesAboveTheBar) {
  Screen screen;
  Progress progress(screen.file(), {.style = ProgressStyle::bar, .width = 16});
  progress.update(halfway());

  progress.line("saved");

  const std::string bar = kClear + "epoch 2/3   50%";
  EXPECT_EQ(screen.text(), bar + kClear + "saved\n" + bar);
}

TEST(ProgressOnATerminal, RemovesTheBarWhenFinished) {
  Screen screen;
  {
    Progress progress(screen.file(), {.style = ProgressStyle::bar, .width = 80});
    progress.update(halfway());
    progress.finish();
    progress.line("done");
  }

  EXPECT_THAT(screen.text(), EndsWith("ETA 1:15" + kClear + "done\n"));
}

TEST(ProgressOnATerminal, CopesWithStatesThatAreNotKnown) {
  Screen screen;
  Progress progress(screen.file(), {.style = ProgressStyle::bar, .width = 80});
  const double infinity = std::numeric_limits<double>::infinity();

  progress.update({.loss = std::nan(""),
                   .accuracy = std::nan(""),
                   .images_per_second = infinity,
                   .seconds_left = infinity});

  EXPECT_THAT(screen.text(), EndsWith("]    0%  step 0/0  loss nan  ETA -:--"));
}

TEST(ProgressOnATerminal, NeverRunsPastTheEnd) {
  Screen screen;
  Progress progress(screen.file(), {.style = ProgressStyle::bar, .width = 80});
  progress.update({.step = 12, .steps_in_epoch = 10, .part_done = 1.2});

  EXPECT_THAT(screen.text(), HasSubstr("=]  100%"));
}

TEST(ProgressInAFile, IsPlainLines) {
  Screen screen;
  {
    Progress progress(screen.file(), {.plain_seconds = 0});
    progress.update(halfway());
    progress.line("saved");
  }

  EXPECT_EQ(screen.text(),
            "epoch 2/3  50%  step 469/938  loss 0.3051  acc 91.2%  5,210 images/s  "
            "ETA 1:15\nsaved\n");
}

TEST(ProgressInAFile, ComesSeldom) {
  Screen screen;
  Progress progress(screen.file(), {.plain_seconds = 0.2});

  progress.update(halfway());
  EXPECT_EQ(screen.text(), "");

  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  for (int i = 0; i < 100; ++i) progress.update(halfway());
  EXPECT_EQ(occurrences(screen.text(), "\n"), 1u);
}

TEST(Terminal, IsNeitherAFileNorHasItAWidthOfZero) {
  std::FILE* file = std::tmpfile();

  EXPECT_FALSE(is_terminal(file));
  EXPECT_GT(terminal_width(file), 0);
  std::fclose(file);
}

}  // namespace
}  // namespace convoy
