// SPDX-License-Identifier: Apache-2.0
//
// Labels in files: one byte each while 256 classes are enough, else four bytes,
// little-endian. In memory a label is always an int32.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convoy {

/// Bytes of one label in a file of so many classes.
constexpr std::size_t label_bytes(std::size_t classes) { return classes <= 256 ? 1 : 4; }

/// Labels of one byte each, as they are in memory.
std::vector<std::int32_t> widened(std::span<const std::uint8_t> labels);

/// Labels as a file of so many classes has them. Requires: each below `classes`.
std::vector<std::uint8_t> encode_labels(std::span<const std::int32_t> labels,
                                        std::size_t classes);

/// The labels of which a file of so many classes has these bytes.
/// Requires: a multiple of label_bytes(classes).
std::vector<std::int32_t> decode_labels(std::span<const std::uint8_t> bytes,
                                        std::size_t classes);

/// Throws InputError of kind `data`, naming the first sample that is wrong, unless all
/// labels are from 0 and below `classes`.
void check_labels(std::span<const std::int32_t> labels, std::size_t classes,
                  const std::string& where);

}  // namespace convoy
