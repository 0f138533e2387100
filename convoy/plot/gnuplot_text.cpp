// SPDX-License-Identifier: Apache-2.0

#include "convoy/plot/gnuplot_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoy/report/classification.h"

namespace convoy {
namespace {

// Widths of letters in pixels, as fractions of the font's size in points.
constexpr double kNarrow = 0.5, kUsual = 0.84, kCapital = 0.95, kWide = 1.3;

/// gnuplot leaves a '>' in an SVG as it is, and XML allows no "]]>" in a text.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  for (std::size_t at = 0; (at = line.find("]]>", at)) != std::string::npos;) {
    line.insert(at + 2, " ");
  }
  return displayable(line);
}

bool is_harmless(char c) {
  return c == ' ' || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z');
}

bool is_one_of(char c, std::string_view letters) {
  return letters.find(c) != std::string_view::npos;
}

/// The width of the character that begins with this byte; 0 inside a character.
double width_at(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if ((byte & 0xC0) == 0x80) return 0;
  if (byte >= 0xE0 || is_one_of(c, "mwMW@%<>=+&#~")) return kWide;
  if (is_one_of(c, "iljtfrI.,:;'|!()[]{}/ -")) return kNarrow;
  return 'A' <= c && c <= 'Z' ? kCapital : kUsual;
}

}  // namespace

std::string gnuplot_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : one_line(text)) {
    quoted += is_harmless(c) ? std::string(1, c)
                             : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return quoted + "\"";
}

std::string gnuplot_tick(std::string_view text) {
  std::string doubled;
  for (const char c : text) doubled += c == '%' ? "%%" : std::string(1, c);
  return gnuplot_text(doubled);
}

std::string gnuplot_number(double value, bool positive) {
  if (!std::isfinite(value) || (positive && value <= 0)) return "NaN";
  return fmt::format("{}", value);
}

double text_pixels(std::string_view text, double size) {
  double width = 0;
  for (const char c : text) width += width_at(c);
  return width * size;
}

std::string shortened(std::string_view text, double pixels, double size) {
  const std::string line = one_line(text);
  if (text_pixels(line, size) <= pixels) return line;
  std::string kept;
  double width = kWide * size;  // of the dots
  for (const char c : line) {
    width += width_at(c) * size;
    if (width > pixels && width_at(c) > 0) break;
    kept += c;
  }
  return kept + "…";
}

}  // namespace convoy
