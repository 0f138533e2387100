// SPDX-License-Identifier: Apache-2.0
//
// The rendezvous's protocol: what goes over its connections, byte by byte.
//
//   server -> client   kMagic, nonce                           40 bytes
//   client -> server   kMagic, nonce, HMAC of both nonces      72 bytes
//   server -> client   one byte (1: welcome), HMAC of both     33 bytes
//   then messages, the client's first being its hello:
//   | length u32 | kind u8 | id u32 | number u64 | key length u16 | key | value |
//
// Numbers are little-endian. The HMACs (SHA-256, keyed with the job's token, a different
// label for each side) prove that both know the token; nonces are fresh, so a recorded
// handshake is worth nothing. Before that proof nothing else is read, and of a length
// that no message has nothing is read either. Messages themselves are not signed: whoever
// can change packets on the way is not kept out.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

inline constexpr std::string_view kMagic = "convoy 1";
inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kMostHello = 4096;       // bytes of a hello
inline constexpr std::size_t kMostMessage = 1 << 20;  // bytes of any other message
inline constexpr std::size_t kMostKey = 512;          // bytes of a key

using Bytes = std::vector<std::byte>;
using Nonce = std::array<std::byte, kNonceBytes>;
using Proof = std::array<std::byte, 32>;

inline constexpr std::size_t kChallengeBytes = kMagic.size() + kNonceBytes;
inline constexpr std::size_t kAnswerBytes = kChallengeBytes + sizeof(Proof);
inline constexpr std::size_t kWelcomeBytes = 1 + sizeof(Proof);

enum class Side { client, server };

/// Random bytes, from the system's source for secrets.
Nonce fresh_nonce();

/// What only who knows `token` can compute for that side and these nonces.
Proof prove(std::string_view token, Side side, const Nonce& server, const Nonce& client);

/// Takes the same time wherever they differ.
bool equal(const Proof& left, const Proof& right);

Bytes challenge(const Nonce& server);
Bytes answer(std::string_view token, const Nonce& server, const Nonce& client);
Bytes welcome(std::string_view token, const Nonce& server, const Nonce& client);

/// The nonce of a challenge or an answer, if it begins as they do.
std::optional<Nonce> nonce_of(std::span<const std::byte> bytes);
bool answer_proves(std::span<const std::byte> answer, std::string_view token,
                   const Nonce& server);
bool welcome_proves(std::span<const std::byte> welcome, std::string_view token,
                    const Nonce& server, const Nonce& client);

enum class MessageKind : std::uint8_t {
  hello = 1,  // value: a Hello
  admitted,
  refused,  // number: a Refusal; value: the reason, or the job's settings
  set,      // key, value
  claim,    // the same, unless it is set; answered with the value that stands
  get,      // key; number: milliseconds to wait for it
  value,    // an answer to the get or claim of that id
  absent,   // nothing came in time for the get of that id
  watch,    // key: a prefix; whatever is or becomes set below it comes as a notice
  notice,   // key, value
  beat,     // I am here; number: a rank's step
  leave     // a session ends that is no loss
};

struct Message {
  MessageKind kind = MessageKind::beat;
  std::uint32_t id = 0;
  std::uint64_t number = 0;
  std::string key{};
  Bytes value{};
};

void append(const Message& message, Bytes& out);

/// Bytes of a connection, taken out message by message.
class MessageBuffer {
 public:
  void add(std::span<const std::byte> bytes);

  /// The next message, if it is all there. Sets is_bad() for what is none, or is longer
  /// than `most`.
  std::optional<Message> next(std::size_t most);
  bool is_bad() const { return bad_; }

 private:
  Bytes bytes_;
  std::size_t taken_ = 0;
  bool bad_ = false;
};

enum class PeerKind : std::uint8_t { rank, agent };

/// Who someone says they are.
struct Hello {
  PeerKind kind = PeerKind::rank;
  std::int32_t number = 0;  // the rank, or the agent's node
  std::int32_t ranks = 1;   // of the job, as they know it
  std::int32_t pid = 0;
  std::string host{};
  std::string settings_hash{};
};

enum class Refusal : std::uint64_t { place, settings };

Bytes encode(const Hello& hello);
std::optional<Hello> decode_hello(std::span<const std::byte> bytes);

/// "rank 2", "node 1".
std::string name_of(PeerKind kind, int number);

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes bytes_of(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

}  // namespace convoy
