// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/piecewise_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <numeric>

#include "convoy/base/digest.h"
#include "convoy/base/error.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigestBytes = 32;

/// `cause` is an errno.
void expect_written(const fs::path& path, int cause) {
  if (cause != 0) throw storage_error(path, "write this file", cause);
}

Descriptor open_to_write(const fs::path& path, int flags) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666));
  if (!file) throw storage_error(path, "write this file", errno);
  return file;
}

void flush(const Descriptor& file, const fs::path& path) {
  expect_written(path, ::fsync(file.get()) == 0 ? 0 : errno);
}

void write_at(const Descriptor& file, const fs::path& path, std::uint64_t offset,
              std::span<const std::byte> bytes) {
  const bool found = ::lseek(file.get(), static_cast<off_t>(offset), SEEK_SET) >= 0;
  expect_written(path, found ? write_all(file.get(), bytes) : errno);
}

/// A file system that cannot reserve space just makes the file as long.
void reserve(const Descriptor& file, const fs::path& path, std::uint64_t size) {
  const auto bytes = static_cast<off_t>(size);
  int cause = bytes == 0 ? 0 : ::posix_fallocate(file.get(), 0, bytes);
  if (cause == EINVAL || cause == EOPNOTSUPP) {
    cause = ::ftruncate(file.get(), bytes) == 0 ? 0 : errno;
  }
  expect_written(path, cause);
}

/// What each rank has of a segment, by its place.
struct OwnedRange {
  int rank = 0;
  Range range;  // within the segment
};

std::vector<OwnedRange> owners_of(const PartTensor& tensor) {
  const Range segment = tensor.segment.range;
  if (tensor.part.plan == nullptr) return {{.rank = 0, .range = {0, segment.size()}}};
  std::vector<OwnedRange> owners;
  for (const Range& part : tensor.part.plan->parts_in(tensor.segment.unit, segment)) {
    owners.push_back({.rank = static_cast<int>(owners.size()), .range = part});
  }
  std::ranges::sort(owners, {}, [](const OwnedRange& own) { return own.range.begin; });
  return owners;
}

}  // namespace

PiecewiseFile::PiecewiseFile(const std::vector<SavedPart>& parts) {
  const std::vector<PartTensor> tensors = tensors_of(parts);
  std::vector<TensorView> views;
  for (const PartTensor& tensor : tensors) views.push_back(tensor.view());
  head_ = safetensors_head(views);
  size_ = head_.size();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (const OwnedRange& own : owners_of(tensors[i])) {
      add(own.rank, views[i].values.subspan(own.range.begin, own.range.size()),
          views[i].dtype);
    }
  }
}

/// Prolongs the last piece if that is the same rank's and its numbers go on, in one type.
void PiecewiseFile::add(int rank, std::span<const float> numbers, Dtype dtype) {
  if (numbers.empty()) return;
  Piece* last = pieces_.empty() ? nullptr : &pieces_.back();
  if (last != nullptr && last->rank == rank && last->dtype == dtype &&
      last->numbers.data() + last->numbers.size() == numbers.data()) {
    last->numbers = {last->numbers.data(), last->numbers.size() + numbers.size()};
  } else {
    pieces_.push_back(
        {.rank = rank, .offset = size_, .numbers = numbers, .dtype = dtype});
  }
  size_ += numbers.size() * bytes_of(dtype);
}

void PiecewiseFile::create(const fs::path& path) const {
  const Descriptor file = open_to_write(path, O_CREAT | O_EXCL);
  reserve(file, path, size_);
  write_at(file, path, 0, std::as_bytes(std::span(head_)));
  flush(file, path);
}

/// Returns its digest. Numbers of 16 bits are packed some at a time.
std::vector<std::byte> PiecewiseFile::write_piece(const Descriptor& file,
                                                  const fs::path& path,
                                                  const Piece& piece) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 20;
  Digest digest(DigestKind::sha256);
  std::vector<std::byte> packed;
  for (std::size_t first = 0; first < piece.numbers.size(); first += kAtOnce) {
    const auto numbers =
        piece.numbers.subspan(first, std::min(kAtOnce, piece.numbers.size() - first));
    std::span<const std::byte> bytes = std::as_bytes(numbers);
    if (piece.dtype != Dtype::fp32) {
      packed.resize(numbers.size() * bytes_of(piece.dtype));
      pack(piece.dtype, numbers, packed.data());
      bytes = packed;
    }
    write_at(file, path, piece.offset + first * bytes_of(piece.dtype), bytes);
    digest.add(bytes);
  }
  return digest.finish();
}

std::vector<std::byte> PiecewiseFile::write_pieces(const fs::path& path, int rank) const {
  if (digest_bytes(rank) == 0) return {};
  const Descriptor file = open_to_write(path, 0);
  std::vector<std::byte> digests;
  for (const Piece& piece : pieces_) {
    if (piece.rank != rank) continue;
    std::ranges::copy(write_piece(file, path, piece), std::back_inserter(digests));
  }
  flush(file, path);
  return digests;
}

std::size_t PiecewiseFile::digest_bytes(int rank) const {
  const auto pieces = std::ranges::count(pieces_, rank, &Piece::rank);
  return static_cast<std::size_t>(pieces) * kDigestBytes;
}

FileMark PiecewiseFile::mark(std::span<const std::byte> digests) const {
  FileMark mark = mark_of(std::as_bytes(std::span(head_)));
  std::vector<std::size_t> order(pieces_.size());  // as the digests are: rank by rank
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return pieces_[i].rank; });
  mark.ranges.resize(1 + pieces_.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    mark.ranges[1 + order[i]] = {pieces_[order[i]].bytes(),
                                 hex(digests.subspan(i * kDigestBytes, kDigestBytes))};
  }
  return mark;
}

}  // namespace convoy
