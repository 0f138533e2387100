// SPDX-License-Identifier: Apache-2.0
//
// Canvas: draws rectangles and text on a white picture, and encodes it as PNG. Only this
// class uses cairo.

#pragma once

#include <memory>
#include <string>

namespace convoy {

/// Fractions of red, green and blue, 0 .. 1.
struct Colour {
  double red = 0, green = 0, blue = 0;
};

inline constexpr Colour kDark{0.13, 0.13, 0.13}, kGrey{0.33, 0.33, 0.33},
    kPale{0.73, 0.73, 0.73}, kWhite{1, 1, 1};

struct TextStyle {
  double size = 13;  // in pixels
  Colour colour = kDark;
  bool bold = false;
  double anchor = 0;   // fraction of the text that is left of its position: 0 none, 1 all
  double degrees = 0;  // rotation around its position, counter-clockwise
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

class Canvas {
 public:
  /// Size in pixels. Requires: both from 1 to 32767.
  Canvas(int width, int height);
  ~Canvas();

  void fill(const Box& box, const Colour& colour);
  void frame(const Box& box, const Colour& colour);
  /// The text's baseline begins at (x, y). Requires: UTF-8.
  void text(double x, double y, const std::string& text, const TextStyle& style);

  /// Returns the bytes of a PNG file.
  std::string png() const;

 private:
  struct Surface;
  std::unique_ptr<Surface> surface_;
};

/// Returns the width of the text in pixels.
double text_width(const std::string& text, const TextStyle& style);

}  // namespace convoy
