// SPDX-License-Identifier: Apache-2.0
//
// Text and numbers as gnuplot reads them.
//
// A gnuplot script is a program: a quote ends a string, a backquote runs a shell command,
// an '@' inserts a variable. So a text is written with letters and blanks as they are and
// with every other byte as an octal number. Digits are among those, because gnuplot would
// read them as a part of the number before them. Nothing that a text contains can then
// end the string or mean anything.

#pragma once

#include <string>
#include <string_view>

namespace convoy {

/// A string in gnuplot's syntax, quotes included. Newlines become blanks; other control
/// characters and invalid UTF-8 become '?'.
std::string gnuplot_text(std::string_view text);

/// The same for the label of a tick, in which gnuplot would take a '%' for a format.
std::string gnuplot_tick(std::string_view text);

/// A number; "NaN", which gnuplot leaves out, if it is not finite, or if it is to be
/// `positive` and is not.
std::string gnuplot_number(double value, bool positive = false);

/// The approximate width of a text in pixels, in a font of `size` points.
double text_pixels(std::string_view text, double size);

/// The text, cut to about that width with "…" at the end.
std::string shortened(std::string_view text, double pixels, double size);

}  // namespace convoy
