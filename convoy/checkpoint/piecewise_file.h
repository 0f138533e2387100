// SPDX-License-Identifier: Apache-2.0
//
// PiecewiseFile: a safetensors file that all ranks write, each the numbers that it has.
//
//   | head |   0   |    1    |   2   |  0  |  1  |  2  | ...     pieces, by rank
//
// The first rank creates the file as long as it will be; then each rank writes its pieces
// at their places. All ranks know all pieces. There is one SHA-256 per piece.

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoy/checkpoint/checkpoint.h"
#include "convoy/system/descriptor.h"

namespace convoy {

class PiecewiseFile {
 public:
  /// Parts that are not divided belong to the first rank. Borrows the parts' numbers.
  explicit PiecewiseFile(const std::vector<SavedPart>& parts);

  /// Makes the file with its head, and reserves disk space for the rest. Throws a storage
  /// error.
  void create(const std::filesystem::path& path) const;

  /// Writes a rank's pieces into the file and flushes them to disk. Returns the digests
  /// of the pieces, end to end. A rank without pieces does not touch the file: the others
  /// do not wait for it, and may have renamed the folder. Throws a storage error.
  std::vector<std::byte> write_pieces(const std::filesystem::path& path, int rank) const;

  /// Bytes that write_pieces() returns.
  std::size_t digest_bytes(int rank) const;

  /// The file's mark, from what write_pieces() has returned on all ranks, in rank order.
  FileMark mark(std::span<const std::byte> digests) const;

 private:
  struct Piece {
    int rank = 0;
    std::uint64_t offset = 0;  // in the file
    std::span<const float> numbers;
    Dtype dtype = Dtype::fp32;  // in which they are written

    std::size_t bytes() const { return numbers.size() * bytes_of(dtype); }
  };

  void add(int rank, std::span<const float> numbers, Dtype dtype);
  static std::vector<std::byte> write_piece(const Descriptor& file,
                                            const std::filesystem::path& path,
                                            const Piece& piece);

  std::string head_;
  std::uint64_t size_ = 0;
  std::vector<Piece> pieces_;  // in the order of the file
};

}  // namespace convoy
