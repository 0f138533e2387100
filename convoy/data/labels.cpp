// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "convoy/data/checks.h"

namespace convoy {

std::vector<std::int32_t> widened(std::span<const std::uint8_t> labels) {
  return {labels.begin(), labels.end()};
}

std::vector<std::uint8_t> encode_labels(std::span<const std::int32_t> labels,
                                        std::size_t classes) {
  const std::size_t width = label_bytes(classes);
  std::vector<std::uint8_t> bytes(labels.size() * width);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto label = static_cast<std::uint32_t>(labels[i / width]);
    bytes[i] = static_cast<std::uint8_t>(label >> (8 * (i % width)));
  }
  return bytes;
}

std::vector<std::int32_t> decode_labels(std::span<const std::uint8_t> bytes,
                                        std::size_t classes) {
  const std::size_t width = label_bytes(classes);
  std::vector<std::uint32_t> labels(bytes.size() / width);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    labels[i / width] |= std::uint32_t{bytes[i]} << (8 * (i % width));
  }
  return {labels.begin(), labels.end()};
}

void check_labels(std::span<const std::int32_t> labels, std::size_t classes,
                  const std::string& where) {
  const auto wrong = std::ranges::find_if(labels, [&](std::int32_t label) {
    return label < 0 || static_cast<std::size_t>(label) >= classes;
  });
  if (wrong == labels.end()) return;
  throw bad_data(
      where,
      fmt::format("label {} at sample {}", *wrong, std::distance(labels.begin(), wrong)),
      fmt::format("labels from 0 to {}", classes - 1));
}

}  // namespace convoy
