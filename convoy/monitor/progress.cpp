// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "convoy/base/printable.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr std::size_t kShortestBar = 8, kLongestBar = 40;
constexpr std::size_t kWidest = 256;  // columns of a progress line
constexpr const char* kClearLine = "\r\x1b[K";
constexpr const char *kGreen = "\x1b[32m", *kYellow = "\x1b[33m", *kPlain = "\x1b[0m";

bool known(double value) { return std::isfinite(value) && value >= 0; }

double part_done(const ProgressState& state) {
  return known(state.part_done) ? std::min(1.0, state.part_done) : 0;
}

std::string epoch_text(const ProgressState& state) {
  return fmt::format("epoch {}/{}", state.epoch, state.epochs);
}

std::string step_text(const ProgressState& state) {
  return fmt::format("step {}/{}", state.step, state.steps_in_epoch);
}

/// Rounded down: 100% means that everything is done.
std::string percent_text(const ProgressState& state) {
  return fmt::format("{:3}%", static_cast<int>(100 * part_done(state)));
}

/// A loss that is not finite is shown too; it is the most important one.
std::string loss_text(const ProgressState& state) {
  const bool unknown = std::isfinite(state.loss) && state.loss < 0;
  return unknown ? "" : fmt::format("loss {:.4g}", state.loss);
}

std::string accuracy_text(const ProgressState& state) {
  return known(state.accuracy) ? fmt::format("acc {:.1f}%", 100 * state.accuracy) : "";
}

std::string speed_text(const ProgressState& state) {
  if (!known(state.images_per_second) || state.images_per_second > 1e15) return "";
  const double speed = state.images_per_second;
  return speed < 10 ? fmt::format("{:.2f} images/s", speed)
                    : with_commas(static_cast<std::uint64_t>(speed)) + " images/s";
}

std::string time_left_text(const ProgressState& state) {
  constexpr double kUnknownAbove = 1e8;  // three years
  const bool known_time = known(state.seconds_left) && state.seconds_left < kUnknownAbove;
  return "ETA " + (known_time ? human_duration(state.seconds_left) : "-:--");
}

std::string slow_text(const ProgressState& state) {
  if (state.slow_rank < 0) return "";
  const std::string text = fmt::format("rank {} slow", state.slow_rank);
  return known(state.slow_by) ? fmt::format("{} +{:.0f}%", text, 100 * state.slow_by)
                              : text;
}

/// The parts of a line. If the line is too narrow, the last of these are left out first.
enum Part : std::size_t {
  epoch,
  percent,
  time_left,
  loss,
  accuracy,
  slow,
  speed,
  step,
  part_count
};
using Parts = std::array<std::string, part_count>;
constexpr Part kAsShown[] = {epoch,    percent, step,      loss,
                             accuracy, speed,   time_left, slow};

Parts parts_of(const ProgressState& state) {
  return {epoch_text(state), percent_text(state),  time_left_text(state),
          loss_text(state),  accuracy_text(state), slow_text(state),
          speed_text(state), step_text(state)};
}

std::size_t width_of(const Parts& parts) {
  std::size_t width = 0;
  for (const std::string& part : parts) width += part.empty() ? 0 : part.size() + 2;
  return width - 2;
}

void drop_what_does_not_fit(Parts& parts, std::size_t width) {
  for (std::size_t i = part_count; i-- > 1 && width_of(parts) > width;) parts[i].clear();
}

std::string bar_text(double done, std::size_t width) {
  const std::size_t inside = width - 2;
  const auto filled = static_cast<std::size_t>(done * static_cast<double>(inside));
  std::string bar = "[" + std::string(filled, '=');
  if (filled < inside) bar += '>';
  bar.resize(inside + 1, ' ');
  return bar + "]";
}

std::string joined(const Parts& parts, const std::string& bar) {
  std::string text;
  for (const Part part : kAsShown) {
    if (parts[part].empty()) continue;
    if (!text.empty()) text += "  ";
    text += parts[part];
    if (part == epoch && !bar.empty()) text += " " + bar;
  }
  return text;
}

std::string coloured(const std::string& text, const char* colour) {
  return text.empty() ? "" : colour + text + kPlain;
}

/// Columns for a bar beside the parts; 0: the line is too narrow for a bar.
std::size_t room_for_bar(const Parts& parts, std::size_t width) {
  const std::size_t used = width_of(parts) + 1;
  const std::size_t room = width > used ? std::min(width - used, kLongestBar) : 0;
  return room >= kShortestBar ? room : 0;
}

/// Formats a line of at most `width` columns, with a bar in the remaining columns. The
/// bar says more than the step number, which is left out if the bar needs its columns.
std::string bar_line(const ProgressState& state, std::size_t width, bool colour) {
  Parts parts = parts_of(state);
  drop_what_does_not_fit(parts, width);
  if (width_of(parts) > width) return parts[epoch].substr(0, width);
  if (room_for_bar(parts, width) == 0) parts[step].clear();
  const std::size_t room = room_for_bar(parts, width);
  std::string bar = room > 0 ? bar_text(part_done(state), room) : "";
  if (colour) {
    bar = coloured(bar, kGreen);
    parts[slow] = coloured(parts[slow], kYellow);
  }
  return joined(parts, bar);
}

std::string plain_line(const ProgressState& state) {
  Parts parts = parts_of(state);
  parts[percent] = fmt::format("{}%", static_cast<int>(100 * part_done(state)));
  return joined(parts, "");
}

}  // namespace

Progress::Progress(std::FILE* out, const ProgressOptions& options)
    : out_(out),
      options_(options),
      // The last column stays empty: some terminals wrap when it is written.
      width_(std::min<std::size_t>(
          static_cast<std::size_t>(std::max(options.width, 2)) - 1, kWidest)),
      seconds_between_(has_bar() ? kRedrawSeconds : options.plain_seconds),
      shown_before_(!has_bar()) {}

Progress::~Progress() { finish(); }

void Progress::update(const ProgressState& state) {
  if (!has_bar() && options_.style != ProgressStyle::plain) return;
  if (shown_before_ && since_shown_.seconds() < seconds_between_) return;
  since_shown_.restart();
  shown_before_ = true;
  if (!has_bar()) return line(plain_line(state));
  const std::string text = bar_line(state, width_, options_.colour);
  bar_size_ = text.copy(bar_.data(), bar_.size());
  draw_bar();
}

void Progress::line(std::string_view text) {
  if (has_lines()) write_line(printable(text));
}

void Progress::record(std::string_view json) {
  if (wants_records()) write_line(json);
}

void Progress::write_line(std::string_view text) {
  clear_bar();
  if (options_.line_prefix != 0) std::fputc(options_.line_prefix, out_);
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fputc('\n', out_);
  draw_bar();
}

void Progress::finish() {
  clear_bar();
  bar_size_ = 0;
  shown_before_ = !has_bar();
  std::fflush(out_);
}

void Progress::draw_bar() {
  if (bar_size_ > 0) {
    std::fputs(kClearLine, out_);
    std::fwrite(bar_.data(), 1, bar_size_, out_);
  }
  std::fflush(out_);
}

void Progress::clear_bar() {
  if (bar_size_ > 0) std::fputs(kClearLine, out_);
}

bool is_terminal(std::FILE* file) {
  const char* kind = std::getenv("TERM");
  return ::isatty(::fileno(file)) == 1 && kind != nullptr &&
         std::strcmp(kind, "dumb") != 0;
}

bool colours_are_wanted() {
  const char* refused = std::getenv("NO_COLOR");
  return refused == nullptr || *refused == '\0';
}

int terminal_width(std::FILE* file) {
  constexpr int kDefaultWidth = 80;
  winsize size{};
  if (::ioctl(::fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int width = columns != nullptr ? std::atoi(columns) : 0;
  return width > 0 ? width : kDefaultWidth;
}

}  // namespace convoy
