// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/confusion_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "convoy/base/text.h"
#include "convoy/report/canvas.h"

namespace convoy {
namespace {

constexpr int kMostClassesWithCounts = 30;
constexpr double kMostPixels = 16000;  // of a side; a picture has fewer than 32768
constexpr double kLeaning = 0.71;      // width of a text that leans by 45 degrees
constexpr double kLegendWidth = 110;

/// White to dark blue, in steps that look even; each step is darker than the last.
constexpr std::array<Colour, 6> kScale = {{{1.0, 1.0, 1.0},
                                           {0.871, 0.922, 0.969},
                                           {0.620, 0.792, 0.882},
                                           {0.259, 0.573, 0.776},
                                           {0.031, 0.318, 0.612},
                                           {0.031, 0.188, 0.420}}};

/// By the root of the share: the mistakes of a good classifier, a few in a hundred, would
/// be white on an even scale.
Colour colour_of(double share) {
  const double place = std::sqrt(std::clamp(share, 0.0, 1.0)) * (kScale.size() - 1);
  const auto step = std::min(static_cast<std::size_t>(place), kScale.size() - 2);
  const double t = place - static_cast<double>(step);
  const Colour &a = kScale[step], &b = kScale[step + 1];
  return {std::lerp(a.red, b.red, t), std::lerp(a.green, b.green, t),
          std::lerp(a.blue, b.blue, t)};
}

/// At most 24 characters.
std::string label_of(const std::string& name) {
  const std::string cut = fmt::format("{:.24}", name);
  return cut.size() < name.size() ? cut + "…" : cut;
}

double longest_label(const ConfusionMatrix& matrix, double font) {
  double longest = 0;
  for (const std::string& name : matrix.classes()) {
    longest = std::max(longest, text_width(label_of(name), {.size = font}));
  }
  return longest;
}

double cell_size(int classes) {
  if (classes <= 12) return 52;
  if (classes <= kMostClassesWithCounts) return 36;
  return std::clamp(std::floor(1500.0 / classes), 1.0, 12.0);
}

/// Where everything stands, in pixels.
struct Frame {
  Frame(const ConfusionMatrix& matrix, const std::string& title)
      : classes(matrix.size()),
        crowded(classes > kMostClassesWithCounts),
        cell(cell_size(classes)),
        font(crowded ? 10 : 13),
        named(cell >= font),
        label(named ? longest_label(matrix, font) : 0),
        lean(crowded ? 90 : 45),
        left(std::ceil(56 + label)),
        // A leaning name reaches up, and beyond the last column, by its part of kLeaning.
        top(std::ceil(84 + label * (crowded ? 1 : kLeaning))),
        side(std::max(1, classes) * cell),
        width(std::min(
            kMostPixels,
            std::max({left + side + std::max(kLegendWidth, label * kLeaning + 16),
                      48 + text_width(title, {.size = 18, .bold = true}), 420.0}))),
        height(top + std::max(side, 84.0) + 40) {}

  int classes;
  bool crowded;  // no room for counts
  double cell, font;
  bool named;
  double label, lean, left, top, side, width, height;
};

void draw_head(Canvas& canvas, const ConfusionMatrix& matrix, const std::string& title) {
  canvas.text(24, 34, title, {.size = 18, .bold = true});
  canvas.text(24, 56,
              fmt::format("accuracy {:.2f} % ({} of {})", 100 * matrix.accuracy(),
                          with_commas(matrix.correct()), with_commas(matrix.total())),
              {.colour = kGrey});
}

void draw_names(Canvas& canvas, const Frame& frame, const ConfusionMatrix& matrix) {
  for (int label = 0; label < frame.classes; ++label) {
    const std::string name = label_of(matrix.classes()[label]);
    const double place = (label + 0.5) * frame.cell;
    canvas.text(frame.left - 8, frame.top + place + 0.35 * frame.font, name,
                {.size = frame.font, .anchor = 1});
    canvas.text(frame.left + place + 0.3 * frame.font, frame.top - 8, name,
                {.size = frame.font, .degrees = frame.lean});
  }
}

void draw_axes(Canvas& canvas, const Frame& frame) {
  const double middle = frame.side / 2;
  canvas.text(frame.left + middle, frame.top + frame.side + 24, "predicted",
              {.colour = kGrey, .anchor = 0.5});
  canvas.text(26, frame.top + middle, "true",
              {.colour = kGrey, .anchor = 0.5, .degrees = 90});
}

void draw_count(Canvas& canvas, const Frame& frame, const Box& box, std::uint64_t count,
                double share) {
  const std::string text = std::to_string(count);
  TextStyle style{.size = frame.font,
                  .colour = count == 0    ? kPale
                            : share > 0.4 ? kWhite
                                          : kDark,
                  .anchor = 0.5};
  style.size *= std::min(1.0, 0.9 * frame.cell / text_width(text, style));
  canvas.text(box.x + box.width / 2, box.y + box.height / 2 + 0.35 * style.size, text,
              style);
}

void draw_row(Canvas& canvas, const Frame& frame, const ConfusionMatrix& matrix,
              int truth) {
  const auto support =
      static_cast<double>(std::max<std::uint64_t>(matrix.true_count(truth), 1));
  for (int predicted = 0; predicted < frame.classes; ++predicted) {
    const std::uint64_t count = matrix.count(truth, predicted);
    const double share = static_cast<double>(count) / support;
    const Box box{frame.left + predicted * frame.cell, frame.top + truth * frame.cell,
                  frame.cell, frame.cell};
    if (count > 0) canvas.fill(box, colour_of(share));
    if (!frame.crowded) draw_count(canvas, frame, box, count, share);
  }
}

/// The scale of colours, at the right.
void draw_legend(Canvas& canvas, const Frame& frame) {
  const double height = std::clamp(std::floor(frame.side), 60.0, 240.0);
  const double x = std::min(frame.left + frame.side, frame.width - kLegendWidth) + 28;
  for (double y = 0; y < height; ++y) {
    canvas.fill({x, frame.top + y, 14, 1}, colour_of(1 - y / height));
  }
  canvas.frame({x, frame.top, 14, height}, kPale);
  for (const int percent : {0, 50, 100}) {
    canvas.text(x + 20, frame.top + height * (1 - percent / 100.0) + 4,
                fmt::format("{} %", percent), {.size = 11});
  }
  canvas.text(x, frame.top + height + 20, "of the row", {.size = 11, .colour = kGrey});
}

}  // namespace

std::string confusion_png(const ConfusionMatrix& matrix, const std::string& title) {
  const std::string heading = displayable(title);
  const Frame frame(matrix, heading);
  Canvas canvas(static_cast<int>(frame.width), static_cast<int>(frame.height));
  draw_head(canvas, matrix, heading);
  if (frame.named) draw_names(canvas, frame, matrix);
  draw_axes(canvas, frame);
  for (int truth = 0; truth < frame.classes; ++truth) {
    draw_row(canvas, frame, matrix, truth);
  }
  canvas.frame({frame.left, frame.top, frame.side, frame.side}, kPale);
  draw_legend(canvas, frame);
  return canvas.png();
}

}  // namespace convoy
