// SPDX-License-Identifier: Apache-2.0
//
// The convoy format: one file per half of a dataset, written once and then memory-mapped.
//
//   byte  0  "convoyds"         8
//         8  version, 1 or 2    4   numbers are little-endian
//        12  channels, height, width, classes   4 each
//        28  0                  4
//        32  count              8
//        40  dataset's name    64   padded with zeros
//       104  SHA-256 of labels and images, as text   64
//       168  0                 88
//       256  labels            count, or 4 x count in version 2
//            images            count x channels x height x width
//
// A dataset of at most 256 classes has version 1, with one byte per label. One of more
// classes has version 2, with four bytes per label.
//
// The file has exactly this length. Opening a file costs the same for any size: only
// labels are read; verify_convoy_format checks the digest.

#pragma once

#include <cstddef>
#include <filesystem>

#include "convoy/data/dataset.h"

namespace convoy {

/// Returns the length of such a file of version 1.
std::size_t compact_bytes(const Shape& shape, std::size_t count);

/// Writes a file that is complete or absent. Requires: a name of at most 64 bytes; images
/// of bytes.
void write_convoy_format(const std::filesystem::path& path, const Dataset& data);

/// Maps a file. Its images stay on disk until they are used.
///
/// Throws InputError: `storage` if it cannot be read; `data`, naming the file, if it has
/// another format, is incomplete, contains another dataset than `name` with these
/// classes, or a label is not below their number.
Dataset read_convoy_format(const std::filesystem::path& path, const std::string& name,
                           const std::vector<std::string>& classes);

/// Throws InputError of kind `data` unless labels and images have the digest in the
/// header. Requires: read_convoy_format accepts the file.
void verify_convoy_format(const std::filesystem::path& path, const std::string& hint);

}  // namespace convoy
