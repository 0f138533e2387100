// SPDX-License-Identifier: Apache-2.0

#include "convoy/launch/rank_output.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "convoy/job/rank_variables.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

constexpr int kMostBlocks = 64;                             // read at a time
constexpr std::size_t kKept = 50;                           // lines
constexpr std::size_t kLongestLine = std::size_t{1} << 20;  // a summary of many ranks
constexpr std::size_t kMostUnlogged = std::size_t{1} << 20;

/// Returns the visible rest of a line that was redrawn.
std::string_view without_bar(std::string_view line) {
  const std::size_t wiped = line.rfind(kWipe);
  return wiped == std::string_view::npos ? line : line.substr(wiped + kWipe.size());
}

}  // namespace

RankOutput::RankOutput(int rank, Console& console, const std::string& name)
    : rank_(rank), console_(console), prefix_(rank == 0 ? "" : "[" + name + "] ") {}

RankOutput::RankOutput(int rank, Console& console)
    : RankOutput(rank, console, fmt::format("rank {}", rank)) {}

bool RankOutput::read(Stream stream, int file) {
  std::array<char, 1 << 14> block;
  // This is more than a pipe holds, but limited, so that a rank that never stops printing
  // does not block the others.
  for (int i = 0; i < kMostBlocks; ++i) {
    const ssize_t got = ::read(file, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    add(stream, {block.data(), static_cast<std::size_t>(got)});
  }
  return true;
}

bool RankOutput::passes_through(Stream stream) const {
  return rank_ == 0 && stream == Stream::out && console_.is_terminal();
}

void RankOutput::add(Stream stream, std::string_view bytes) {
  if (passes_through(stream)) console_.pass(bytes);
  begun_[static_cast<int>(stream)] += bytes;
  take_lines(stream);
}

void RankOutput::take_lines(Stream stream) {
  std::string& begun = begun_[static_cast<int>(stream)];
  std::size_t start = 0;
  for (std::size_t end; (end = begun.find('\n', start)) != std::string::npos;
       start = end + 1) {
    add_line(stream, std::string_view(begun).substr(start, end - start));
  }
  begun.erase(0, start);
  if (const std::size_t wiped = begun.rfind(kWipe); wiped != std::string::npos) {
    if (passes_through(stream)) begun.erase(0, wiped);
  }
  if (begun.size() > kLongestLine) {
    add_line(stream, begun);
    begun.clear();
  }
}

void RankOutput::finish() {
  for (const Stream stream : {Stream::out, Stream::err}) {
    std::string& begun = begun_[static_cast<int>(stream)];
    if (!begun.empty() && !without_bar(begun).empty()) add_line(stream, begun);
    begun.clear();
  }
}

void RankOutput::add_line(Stream stream, std::string_view line) {
  const bool for_the_log = line.starts_with(kLogOnlyPrefix);
  if (for_the_log) line.remove_prefix(1);
  if (!for_the_log && !passes_through(stream)) console_.line(stream, prefix_, line);
  line = without_bar(line);
  last_.emplace_back(line);
  if (last_.size() > kKept) last_.pop_front();
  write_log(line);
}

void RankOutput::write_log(std::string_view line) {
  unlogged_ += line;
  unlogged_ += '\n';
  if (!log_) {
    if (unlogged_.size() > kMostUnlogged) unlogged_.erase(0, kMostUnlogged / 2);
    return;
  }
  // A log that cannot be written does not end the run.
  [[maybe_unused]] const ssize_t written =
      ::write(log_.get(), unlogged_.data(), unlogged_.size());
  unlogged_.clear();
}

void RankOutput::log_to(const std::filesystem::path& folder) {
  if (log_) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const std::filesystem::path path = folder / fmt::format("rank-{}.log", rank_);
  log_ =
      Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!log_ || unlogged_.empty()) return;
  [[maybe_unused]] const ssize_t written =
      ::write(log_.get(), unlogged_.data(), unlogged_.size());
  unlogged_.clear();
}

std::vector<std::string> RankOutput::last_lines(std::size_t most) const {
  const std::size_t count = std::min(most, last_.size());
  return {last_.end() - static_cast<std::ptrdiff_t>(count), last_.end()};
}

}  // namespace convoy
