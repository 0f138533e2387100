// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/network/layer.h"

namespace convoy {
namespace {

/// `count` numbers, one per side, of which the first one or two may stand for the others;
/// empty if the option is not given.
std::vector<int> sides_of(const char* layer, const LayerOptions& options,
                          const char* name, std::size_t count, const char* expected) {
  const auto option = options.find(name);
  std::vector<int> sides;
  if (option == options.end()) return sides;
  if (std::holds_alternative<std::int64_t>(option->second)) {
    read_option(layer, options, name, sides.emplace_back());
  } else {
    read_option(layer, options, name, sides);
  }
  const std::size_t given = sides.size();
  if (given == 0 || count % given != 0) {
    throw InputError(InputKind::data, {.where = fmt::format("layer {}: {}", layer, name),
                                       .found = fmt::format("{} numbers", given),
                                       .expected = expected,
                                       .hint = ""});
  }
  for (std::size_t i = given; i < count; ++i) sides.push_back(sides[i - given]);
  return sides;
}

int window_positions(int side, int span, int stride, int before, int after, bool ceil) {
  const int rest = side + before + after - span;
  const int count = (rest + (ceil ? stride - 1 : 0)) / stride + 1;
  // As in PyTorch, no position begins in the padding behind the image.
  return ceil && (count - 1) * stride >= side + before ? count - 1 : count;
}

std::string text_of(Extent extent) {
  return extent.is_square() ? fmt::format("{}", extent.height)
                            : fmt::format("{}x{}", extent.height, extent.width);
}

std::string text_of(Padding padding) {
  return padding.is_even() ? fmt::format("{}", padding.top)
                           : fmt::format("{},{},{},{}", padding.top, padding.left,
                                         padding.bottom, padding.right);
}

bool is_possible(const Window& window) {
  const Padding& padding = window.padding;
  return std::min({window.size.height, window.size.width, window.stride.height,
                   window.stride.width, window.dilation.height, window.dilation.width}) >=
             1 &&
         std::min({padding.top, padding.left, padding.bottom, padding.right}) >= 0;
}

/// "3 x 3", or "1 x 1" if padding alone would be enough.
std::string smallest_image(const Window& window) {
  const Padding& padding = window.padding;
  const Extent span = window.span();
  return fmt::format("{} x {}", std::max(1, span.height - padding.top - padding.bottom),
                     std::max(1, span.width - padding.left - padding.right));
}

}  // namespace

void read_option(const char* layer, const LayerOptions& options, const char* name,
                 Extent& value) {
  const auto sides =
      sides_of(layer, options, name, 2, "a whole number, or height and width");
  if (!sides.empty()) value = {sides[0], sides[1]};
}

void read_option(const char* layer, const LayerOptions& options, const char* name,
                 Padding& value) {
  const auto sides =
      sides_of(layer, options, name, 4,
               "a whole number, or height and width, or top, left, bottom, right");
  if (!sides.empty()) value = {sides[0], sides[1], sides[2], sides[3]};
}

OptionValue option_value(const Extent& value) {
  if (value.is_square()) return std::int64_t{value.height};
  return std::vector<std::int64_t>{value.height, value.width};
}

OptionValue option_value(const Padding& value) {
  if (value.is_even()) return std::int64_t{value.top};
  return std::vector<std::int64_t>{value.top, value.left, value.bottom, value.right};
}

Extent Window::positions(Shape src) const {
  const Extent all = span();
  return {window_positions(src.height, all.height, stride.height, padding.top,
                           padding.bottom, ceil_mode),
          window_positions(src.width, all.width, stride.width, padding.left,
                           padding.right, ceil_mode)};
}

Extent Window::framed(Shape src) const {
  const Extent all = span(), last = positions(src);
  return {std::max(src.height + padding.top + padding.bottom,
                   (last.height - 1) * stride.height + all.height),
          std::max(src.width + padding.left + padding.right,
                   (last.width - 1) * stride.width + all.width)};
}

void refuse_window(const std::string& layer, Shape src, const Window& window) {
  if (!is_possible(window)) {
    refuse_layer(layer,
                 fmt::format("a window of {}, stride {}, padding {}, dilation {}",
                             text_of(window.size), text_of(window.stride),
                             text_of(window.padding), text_of(window.dilation)),
                 "size, stride and dilation of at least 1, padding of at least 0");
  }
  const Extent span = window.span();
  const Padding& padding = window.padding;
  if (src.height + padding.top + padding.bottom >= span.height &&
      src.width + padding.left + padding.right >= span.width) {
    return;
  }
  refuse_layer(
      layer, fmt::format("images of {} x {} at this layer", src.height, src.width),
      "at least " + smallest_image(window), "use larger images or another model");
}

void refuse_pool_window(const std::string& layer, Shape src, const Window& window) {
  refuse_window(layer, src, window);
  const Padding& padding = window.padding;
  if (std::max(padding.top, padding.bottom) < window.size.height &&
      std::max(padding.left, padding.right) < window.size.width) {
    return;
  }
  refuse_layer(layer,
               fmt::format("a window of {} with padding {}", text_of(window.size),
                           text_of(padding)),
               "less padding than window");
}

std::map<std::string, std::string> window_details(const Window& window) {
  std::map<std::string, std::string> details = {{"window", text_of(window.size)},
                                                {"stride", text_of(window.stride)},
                                                {"padding", text_of(window.padding)}};
  if (window.dilation != 1) details["dilation"] = text_of(window.dilation);
  return details;
}

}  // namespace convoy
