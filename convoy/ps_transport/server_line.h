// SPDX-License-Identifier: Apache-2.0
//
// ServerLine: a worker's connection to one parameter server, and that server's answers.
// Internal to WorkerPort.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/stored_types.h"
#include "convoy/ps_transport/frame_stream.h"
#include "convoy/ps_transport/push.h"
#include "convoy/ps_transport/shared_numbers.h"

namespace convoy {

struct ServerLine {
  std::string name;  // "parameter server 0 at 10.0.0.2:4711"
  int number = 0;
  Range range;                         // of the values that the server has
  std::span<float> statistics{};       // where it sends frozen ones, after the values
  const StoredTypes* types = nullptr;  // of the values; nullptr: fp32. Borrowed
  FrameStream stream;
  std::unique_ptr<SharedNumbers> shared{};  // if the server is on this machine
  std::uint64_t version = 0;                // of the values that it sent last
  std::optional<Assignment> answer{};       // to the last request, if it has arrived
  Steady::time_point last_heard{};
  std::vector<std::byte> packed{};  // values of 16 bits, as they were sent

  // These throw ConnectionLost; PeerError, which names the server, for an unexpected
  // message; and InputError if the server refuses.

  /// Sends the hello, and waits to be admitted.
  void introduce(const HelloBody& hello);

  /// Sends a push, whose parts after the first `words` are numbers, over the socket or
  /// through shared memory.
  void send_push(std::span<const FrameStream::Part> parts, std::size_t words);

  /// Receives the next frame; its values go to `values`, its assignment to `answer`.
  void take_frame(FlatBuffer& values);

  /// Bytes of the values and of frozen statistics in an assignment.
  std::size_t pulled_bytes() const;

  [[noreturn]] void lose(const std::string& why) const;

  /// Whether nothing was received for that long, and nothing is unread.
  bool is_silent(std::chrono::milliseconds limit) const;

 private:
  FrameHead receive_head();
  Bytes receive_text(std::uint64_t length);
  Assignment receive_assignment(std::uint64_t length, FlatBuffer& values);
  Assignment take_shared_assignment(std::uint64_t length, FlatBuffer& values);
  Assignment receive_batch();
  template <class Take>
  void take_values(FlatBuffer& values, const Take& take);
  [[noreturn]] void throw_refusal(std::uint64_t length);
};

}  // namespace convoy
