// SPDX-License-Identifier: Apache-2.0
//
// Frames: the binary messages between a worker and a parameter server, after both have
// proved the token (wire/handshake.h).
//
//   | magic u32 | kind u32 | length u64 |   then `length` bytes:
//
//   hello       worker   HelloBody
//   admitted    server   WelcomeBody
//   refused     server   settings u64, length of found u64, found, expected
//   push        worker   PushHead, one LossSum per micro-batch, gradients, statistics
//   assignment  server   AssignmentHead, values, frozen statistics
//   shared_push, shared_assignment: the same, but the numbers are in memory that
//               both share (shared_numbers.h)
//   over        server   exit code u64, reason
//   beat        server   -
//   goodbye     worker   -
//
// Numbers are little-endian; gradients and values are sent in the types that the hello
// says (params/stored_types.h). Every length except that of a text is known in advance; a
// frame of another length is refused before its body is read.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "convoy/base/error.h"
#include "convoy/base/float16.h"
#include "convoy/ps_transport/push.h"
#include "convoy/wire/bytes.h"

namespace convoy {

static_assert(std::endian::native == std::endian::little, "frames are copies of memory");

inline constexpr std::uint32_t kFrameMagic = 0x53505643;  // "CVPS"
inline constexpr std::size_t kMostText = 4096;            // bytes of a text's body

enum class FrameKind : std::uint32_t {
  hello = 1,
  admitted,
  refused,
  push,
  assignment,
  over,
  beat,
  goodbye,
  shared_push,
  shared_assignment
};

struct FrameHead {
  std::uint32_t magic = kFrameMagic;
  FrameKind kind = FrameKind::beat;
  std::uint64_t length = 0;
};

/// The worker's number, and the sizes of its pushes.
struct HelloBody {
  std::uint64_t worker = 0;
  std::uint64_t beat_milliseconds = 0;          // interval at which it wants a beat
  std::uint64_t gradients = 0, statistics = 0;  // floats per partial
  std::uint64_t partials = 0, microbatches = 0;
  /// Floats of an assignment that have no gradient: frozen values and statistics.
  std::uint64_t constants = 0;
  std::uint64_t machine = 0;  // machine_number(), if the worker can share memory
  Dtype gradient_type = Dtype::fp32;
  std::uint32_t reserved = 0;
  std::uint64_t pulled_bytes = 0;  // of an assignment's numbers

  bool operator==(const HelloBody&) const = default;
};

/// Where a worker on the server's machine finds the shared memory.
struct WelcomeBody {
  std::uint64_t process = 0, descriptor = 0;
  std::uint64_t key = 0;  // first bytes of the memory; 0: there is none
};

struct PushHead {
  std::uint64_t sequence = 0, version = 0, samples = 0;
  double own_seconds = 0, data_seconds = 0, slept_seconds = 0, exchange_seconds = 0;
  double loss_scale = 1;
  std::uint64_t is_finite = 1;
};

struct AssignmentHead {
  std::uint64_t sequence = 0, version = 0;
  double loss_scale = 1;
};

static_assert(sizeof(FrameHead) == 16 && sizeof(HelloBody) == 80 &&
                  sizeof(WelcomeBody) == 24 && sizeof(PushHead) == 72 &&
                  sizeof(AssignmentHead) == 24 && sizeof(LossSum) == 32 &&
                  std::is_trivially_copyable_v<LossSum>,
              "no padding travels");

/// Why a worker is refused, for the worker's error message.
struct Rejection {
  InputKind kind = InputKind::admission;  // or settings
  std::string found{}, expected{};
};

/// Bytes of gradients and statistics.
std::uint64_t pushed_bytes(const HelloBody& sizes);
/// Bytes of a push after its frame head, with its numbers and without.
std::uint64_t push_length(const HelloBody& sizes);
std::uint64_t shared_push_length(const HelloBody& sizes);
std::uint64_t assignment_length(std::size_t bytes);

PushHead head_of(const Push& push);
/// Without micro-batches.
Push push_of(const PushHead& head);

Bytes encode(const Rejection& rejection);
Rejection decode_rejection(std::span<const std::byte> body);

/// How and why a run ended.
Bytes encode_over(const Assignment& over);
Assignment decode_over(std::span<const std::byte> body);

/// The bytes of a struct above, or of numbers.
template <class T>
std::span<const std::byte> bytes_in(const T& body) {
  return std::as_bytes(std::span(&body, 1));
}
template <class T>
std::span<std::byte> writable_bytes_in(T& body) {
  return std::as_writable_bytes(std::span(&body, 1));
}

}  // namespace convoy
