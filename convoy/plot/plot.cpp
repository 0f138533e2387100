// SPDX-License-Identifier: Apache-2.0

#include "convoy/plot/plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/plot/gnuplot_text.h"
#include "convoy/plot/picture.h"
#include "convoy/system/child_process.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr double kMostSeconds = 60;
constexpr std::size_t kMostPoints = 4'000'000;
constexpr double kPixelsOfPng = 2;          // per pixel of a screen, for print
constexpr double kPixelsOfPoint = 4.0 / 3;  // SVG's fonts are in pixels
constexpr double kMostPngPixels = 32000;

struct PointCount {
  std::size_t operator()(const LineChart& chart) const {
    std::size_t count = 0;
    for (const ChartSeries& series : chart.series) count += series.x.size();
    return count;
  }
  std::size_t operator()(const HeatMap& map) const { return map.counts.size(); }
  std::size_t operator()(const ContourChart& chart) const {
    std::size_t count = chart.grid.values.size();
    for (const ChartPath& path : chart.paths) count += path.x.size();
    return count;
  }
  std::size_t operator()(const SurfaceChart& chart) const {
    return chart.grid.values.size();
  }
  std::size_t operator()(const ParallelChart& chart) const {
    return chart.lines.size() * chart.axes.size();
  }
  std::size_t operator()(const BarChart& chart) const { return chart.values.size(); }
};

void refuse_too_large(const Chart& chart, const fs::path& file) {
  const std::size_t points = std::visit(PointCount{}, chart);
  if (points <= kMostPoints) return;
  throw InputError(InputKind::usage, {.where = file.string(),
                                      .found = fmt::format("{} points", points),
                                      .expected = fmt::format("at most {}", kMostPoints),
                                      .hint = ""});
}

enum class Format { png, svg };

Format format_of(const fs::path& file) {
  if (file.extension() == ".png") return Format::png;
  if (file.extension() == ".svg") return Format::svg;
  throw InputError(InputKind::usage, {.where = file.string(),
                                      .found = "no format that is drawn",
                                      .expected = "a name that ends in .png or .svg",
                                      .hint = ""});
}

/// The terminal is gnuplot's word for a format. Texts are not enhanced: no character in
/// them means anything.
std::string terminal(const Picture& picture, Format format) {
  if (format == Format::svg) {
    return fmt::format(
        "set terminal svg noenhanced size {:.0f},{:.0f} font "
        "\"sans-serif,{}\" fontscale {} background rgb 'white'\n",
        picture.width, picture.height, kFont, kPixelsOfPoint);
  }
  const double scale =
      std::min(kPixelsOfPng, kMostPngPixels / std::max(picture.width, picture.height));
  return fmt::format(
      "set terminal pngcairo noenhanced size {:.0f},{:.0f} font "
      "\"sans-serif,{}\" fontscale {} linewidth {} pointscale {} "
      "background rgb 'white'\n",
      picture.width * scale, picture.height * scale, kFont, scale, scale, scale);
}

/// The last lines of what gnuplot said.
std::string last_lines(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t from = text.size();
  for (int lines = 0; lines < 4 && from != std::string::npos && from > 0; ++lines) {
    from = text.rfind('\n', from - 1);
  }
  return from == std::string::npos || from == 0 ? text : text.substr(from + 1);
}

bool is_complete(const std::string& bytes, Format format) {
  return format == Format::svg
             ? bytes.find("</svg>") != std::string::npos
             : bytes.starts_with("\x89PNG") && bytes.find("IEND") != std::string::npos;
}

InputError not_drawn(const fs::path& file, const ProcessResult& result) {
  return {InputKind::storage,
          {.where = file.string(),
           .found = result.timed_out
                        ? fmt::format("gnuplot has not finished after {} s", kMostSeconds)
                        : fmt::format("gnuplot failed (exit code {}): {}",
                                      result.exit_code, last_lines(result.output)),
           .expected = "a picture",
           .hint = ""}};
}

/// Draws into a temporary folder, so that neither the file's name nor a part of a picture
/// reaches anything else.
std::string drawn_bytes(const Picture& picture, Format format, const fs::path& file) {
  const TemporaryFolder folder;
  const fs::path script = fs::absolute(folder.path() / "chart.gp");
  const fs::path output = fs::absolute(folder.path() / "picture");
  write_atomically(script, terminal(picture, format) + "set encoding utf8\nset output " +
                               gnuplot_text(output.string()) + "\n" + picture.commands +
                               "set output\n");
  const ProcessResult result =
      run_process({"gnuplot", "--default-settings", script}, kMostSeconds);
  const std::string bytes =
      result.exit_code == 0 && fs::exists(output) ? read_text(output) : "";
  if (!is_complete(bytes, format)) throw not_drawn(file, result);
  return bytes;
}

}  // namespace

bool plot_is_available() {
  static const bool available = [] {
    try {
      return run_process({"gnuplot", "--version"}, kMostSeconds).exit_code == 0;
    } catch (const InputError&) {
      return false;
    }
  }();
  return available;
}

void draw(const Chart& chart, const fs::path& file) {
  const Format format = format_of(file);
  refuse_too_large(chart, file);
  const Picture picture =
      std::visit([](const auto& each) { return picture_of(each); }, chart);
  write_atomically(file, drawn_bytes(picture, format, file));
}

}  // namespace convoy
