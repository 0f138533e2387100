// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/confusion_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "convoy/base/text.h"

namespace convoy {
namespace {

constexpr int kMostClassesWithCounts = 30;
constexpr double kLetter = 0.64;  // a digit's width, in font sizes; letters are narrower

struct Colour {
  double red, green, blue;
};

/// White to dark blue, in steps that look even; each step is darker than the last.
constexpr std::array<Colour, 6> kScale = {{{255, 255, 255},
                                           {222, 235, 247},
                                           {158, 202, 225},
                                           {66, 146, 198},
                                           {8, 81, 156},
                                           {8, 48, 107}}};

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

std::string hex(const Colour& colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", std::lround(colour.red),
                     std::lround(colour.green), std::lround(colour.blue));
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// At most 24 characters, escaped.
std::string label_of(const std::string& name) {
  constexpr std::size_t kLongest = 24;
  const std::string cut = fmt::format("{:.{}}", name, kLongest);
  return escaped(cut) + (cut.size() < name.size() ? "…" : "");
}

double longest_label(const ConfusionMatrix& matrix, double font) {
  std::size_t letters = 1;
  for (const std::string& name : matrix.classes()) {
    letters = std::max(letters, std::min<std::size_t>(name.size(), 25));
  }
  return static_cast<double>(letters) * kLetter * font;
}

/// Where everything stands, in pixels.
struct Frame {
  explicit Frame(const ConfusionMatrix& matrix)
      : classes(matrix.size()),
        crowded(classes > kMostClassesWithCounts),
        cell(crowded        ? 12
             : classes > 12 ? 36
                            : 52),
        font(crowded ? 10 : 13),
        lean(crowded ? 90 : 45),
        left(48 + longest_label(matrix, font)),
        // A leaning name reaches up, and beyond the last column, by its length / sqrt(2).
        top(96 + longest_label(matrix, font) * (crowded ? 1 : 0.71)),
        side(std::max(1, classes) * cell),
        width(std::max(left + side + std::max(110.0, longest_label(matrix, font) * 0.71),
                       420.0)),
        height(top + std::max(side, 84.0) + 28) {}

  int classes;
  bool crowded;  // no room for counts
  double cell, font, lean, left, top, side, width, height;
};

std::string head(const Frame& frame, const ConfusionMatrix& matrix,
                 const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', "
      "sans-serif\" font-size=\"{2}\" fill=\"#222\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "<text x=\"24\" y=\"34\" font-size=\"18\" font-weight=\"bold\">{3}</text>\n"
      "<text x=\"24\" y=\"56\" font-size=\"13\" fill=\"#555\">accuracy {4:.2f} % "
      "({5} of {6})</text>\n",
      frame.width, frame.height, frame.font, title, 100 * matrix.accuracy(),
      with_commas(matrix.correct()), with_commas(matrix.total()));
}

std::string axes(const Frame& frame, const ConfusionMatrix& matrix) {
  const double middle = frame.side / 2;
  std::string svg = fmt::format(
      "<g fill=\"#555\" text-anchor=\"middle\" font-size=\"13\">\n"
      "<text x=\"{:.1f}\" y=\"{:.1f}\">predicted</text>\n"
      "<text transform=\"translate(26 {:.1f}) rotate(-90)\">true</text>\n</g>\n",
      frame.left + middle, frame.top + frame.side + 20, frame.top + middle);
  for (int label = 0; label < frame.classes; ++label) {
    const std::string name = label_of(matrix.classes()[label]);
    const double place = (label + 0.5) * frame.cell;
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                       frame.left - 8, frame.top + place + 0.35 * frame.font, name);
    svg += fmt::format(
        "<text transform=\"translate({:.1f} {:.1f}) rotate(-{})\">{}</text>\n",
        frame.left + place + 0.3 * frame.font, frame.top - 8, frame.lean, name);
  }
  return svg;
}

std::string count_text(const Frame& frame, double x, double y, std::uint64_t count,
                       double share) {
  const std::string text = std::to_string(count);
  const double room = 0.9 * frame.cell / (kLetter * static_cast<double>(text.size()));
  const char* colour = count == 0 ? "#bbb" : share > 0.4 ? "#fff" : "#222";
  const double font = std::min(frame.font, room);
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"{:.1f}\" "
      "fill=\"{}\">{}</text>\n",
      x + frame.cell / 2, y + frame.cell / 2 + 0.35 * font, font, colour, text);
}

std::string cell(const Frame& frame, const ConfusionMatrix& matrix, int truth,
                 int predicted) {
  const std::uint64_t count = matrix.count(truth, predicted);
  if (count == 0 && frame.crowded) return "";

  const std::uint64_t support = matrix.true_count(truth);
  const double share =
      support > 0 ? static_cast<double>(count) / static_cast<double>(support) : 0;
  const double x = frame.left + predicted * frame.cell;
  const double y = frame.top + truth * frame.cell;
  const std::string svg = fmt::format(
      "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2}\" height=\"{2}\" fill=\"{3}\">"
      "<title>{4} taken for {5}: {6} of {7} ({8:.1f} %)</title></rect>\n",
      x, y, frame.cell, hex(colour_of(share)), escaped(matrix.classes()[truth]),
      escaped(matrix.classes()[predicted]), with_commas(count), with_commas(support),
      100 * share);
  return frame.crowded ? svg : svg + count_text(frame, x, y, count, share);
}

std::string cells(const Frame& frame, const ConfusionMatrix& matrix) {
  std::string svg = "<g stroke=\"none\">\n";
  for (int truth = 0; truth < frame.classes; ++truth) {
    for (int predicted = 0; predicted < frame.classes; ++predicted) {
      svg += cell(frame, matrix, truth, predicted);
    }
  }
  return svg + fmt::format(
                   "</g>\n<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2}\" height=\"{2}\" "
                   "fill=\"none\" stroke=\"#888\"/>\n",
                   frame.left, frame.top, frame.side);
}

/// The scale of colours, at the right.
std::string legend(const Frame& frame) {
  const double height = std::clamp(frame.side, 60.0, 240.0);
  const double x = frame.left + frame.side + 28;
  std::string svg =
      "<defs><linearGradient id=\"scale\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">";
  for (std::size_t i = 0; i < kScale.size(); ++i) {
    const double root = static_cast<double>(i) / (kScale.size() - 1);
    svg += fmt::format("<stop offset=\"{:.0f}%\" stop-color=\"{}\"/>", 100 * root * root,
                       hex(kScale[i]));
  }
  svg += fmt::format(
      "</linearGradient></defs>\n<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" "
      "height=\"{:.1f}\" fill=\"url(#scale)\" stroke=\"#888\"/>\n",
      x, frame.top, height);
  for (const int percent : {0, 50, 100}) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\">{} %</text>\n",
                       x + 20, frame.top + height * (1 - percent / 100.0) + 4, percent);
  }
  return svg +
         fmt::format(
             "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" fill=\"#555\">of the "
             "row</text>\n",
             x, frame.top + height + 20);
}

}  // namespace

std::string confusion_svg(const ConfusionMatrix& matrix, const std::string& title) {
  const Frame frame(matrix);
  return head(frame, matrix, escaped(displayable(title))) + axes(frame, matrix) +
         cells(frame, matrix) + legend(frame) + "</svg>\n";
}

}  // namespace convoy
