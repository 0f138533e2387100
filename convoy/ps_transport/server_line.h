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

#include "convoy/base/clock.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/ps_transport/frame_stream.h"
#include "convoy/ps_transport/push.h"
#include "convoy/ps_transport/shared_numbers.h"

namespace convoy {

struct ServerLine {
  std::string name;  // "parameter server 0 at 10.0.0.2:4711"
  int number = 0;
  Range range;  // of the values that it has
  FrameStream stream;
  std::unique_ptr<SharedNumbers> shared{};  // if it is on this machine
  std::uint64_t version = 0;                // of the values that it sent last
  std::optional<Assignment> answer{};       // to what was asked last, if it is there
  Steady::time_point last_heard{};

  // These throw ConnectionLost, and PeerError, which names the server, if it sends what
  // no server sends; InputError if it refuses.

  /// Sends the hello, and waits to be admitted.
  void introduce(const HelloBody& hello);

  /// A push, of which all but the first `words` parts are numbers: sent, or put where the
  /// server sees them.
  void send_push(std::span<const FrameStream::Part> parts, std::size_t words);

  /// The next frame; its values into `values`, what it answers into `answer`.
  void take_frame(FlatBuffer& values);

  [[noreturn]] void lose(const std::string& why) const;

  /// Nothing was received for that long, and nothing is unread.
  bool is_silent(std::chrono::milliseconds limit) const;

 private:
  FrameHead receive_head();
  Bytes receive_text(std::uint64_t length);
  Assignment receive_assignment(std::uint64_t length, FlatBuffer& values);
  Assignment take_shared_assignment(std::uint64_t length, FlatBuffer& values);
  Assignment receive_batch();
  [[noreturn]] void throw_refusal(std::uint64_t length);
};

}  // namespace convoy
