// SPDX-License-Identifier: Apache-2.0
//
// The binary messages of the rendezvous. After the handshake (wire/token_proof.h) the
// client's first message is its hello:
//
//   | length u32 | kind u8 | id u32 | number u64 | key length u16 | key | value |
//
// Numbers are little-endian. A message with an invalid length is not read.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/wire/bytes.h"

namespace convoy {

inline constexpr std::size_t kMostHello = 4096;       // bytes of a hello
inline constexpr std::size_t kMostMessage = 1 << 20;  // bytes of any other message
inline constexpr std::size_t kMostKey = 512;          // bytes of a key

enum class MessageKind : std::uint8_t {
  hello = 1,  // value: a Hello
  admitted,
  refused,  // number: a Refusal; value: the reason, or the job's settings
  set,      // key, value
  claim,    // the same unless the key is set; answered with the key's value
  get,      // key; number: milliseconds to wait for it
  value,    // the answer to the get or claim with that id
  absent,   // the key of the get with that id was not set in time
  watch,    // key: a prefix; keys below it are sent as notices, set now or later
  notice,   // key, value
  beat,     // the sender is alive; number: a rank's step
  leave     // ends a session that is not lost
};

struct Message {
  MessageKind kind = MessageKind::beat;
  std::uint32_t id = 0;
  std::uint64_t number = 0;
  std::string key{};
  Bytes value{};
};

void append(const Message& message, Bytes& out);

/// Received bytes of a connection, parsed message by message.
class MessageBuffer {
 public:
  void add(std::span<const std::byte> bytes);

  /// Returns the next message, if it is complete. Sets is_bad() for an invalid message,
  /// or one longer than `most`.
  std::optional<Message> next(std::size_t most);
  bool is_bad() const { return bad_; }

 private:
  Bytes bytes_;
  std::size_t taken_ = 0;
  bool bad_ = false;
};

enum class PeerKind : std::uint8_t { rank, launcher };

/// How a peer introduces itself.
struct Hello {
  PeerKind kind = PeerKind::rank;
  std::int32_t number = 0;  // the rank, or the launcher's node
  std::int32_t ranks = 1;   // of the job, by the peer's own placement
  std::int32_t pid = 0;
  std::string host{};
  std::string settings_hash{};
};

enum class Refusal : std::uint64_t { place, settings };

Bytes encode(const Hello& hello);
std::optional<Hello> decode_hello(std::span<const std::byte> bytes);

/// Formats as "rank 2", "node 1".
std::string name_of(PeerKind kind, int number);

}  // namespace convoy
