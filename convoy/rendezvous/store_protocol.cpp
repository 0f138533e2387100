// SPDX-License-Identifier: Apache-2.0

#include "convoy/rendezvous/store_protocol.h"

#include <algorithm>
#include <cstring>

#include "convoy/base/error.h"
#include "convoy/base/printable.h"

namespace convoy {
namespace {

constexpr std::size_t kLengthBytes = 4;
// Bytes of a message after its length, without key and value.
constexpr std::size_t kFixedBytes = 1 + 4 + 8 + 2;

template <class Number>
void put(Number number, Bytes& out) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    out.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * i)));
  }
}

/// Requires: enough bytes are available.
template <class Number>
Number take(std::span<const std::byte>& bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    number |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  bytes = bytes.subspan(sizeof(Number));
  return static_cast<Number>(number);
}

void put_text(std::string_view text, Bytes& out) {
  put(static_cast<std::uint16_t>(text.size()), out);
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Returns the text, if it is complete.
std::optional<std::string> take_text(std::span<const std::byte>& bytes) {
  if (bytes.size() < sizeof(std::uint16_t)) return std::nullopt;
  const auto length = take<std::uint16_t>(bytes);
  if (bytes.size() < length) return std::nullopt;
  std::string text = text_of(bytes.first(length));
  bytes = bytes.subspan(length);
  return text;
}

bool is_kind(std::uint8_t kind) {
  return kind >= static_cast<std::uint8_t>(MessageKind::hello) &&
         kind <= static_cast<std::uint8_t>(MessageKind::leave);
}

/// Parses a message from the bytes after its length.
std::optional<Message> decode(std::span<const std::byte> bytes) {
  Message message;
  const auto kind = take<std::uint8_t>(bytes);
  if (!is_kind(kind)) return std::nullopt;
  message.kind = static_cast<MessageKind>(kind);
  message.id = take<std::uint32_t>(bytes);
  message.number = take<std::uint64_t>(bytes);
  std::optional<std::string> key = take_text(bytes);
  if (!key || key->size() > kMostKey) return std::nullopt;
  message.key = std::move(*key);
  message.value.assign(bytes.begin(), bytes.end());
  return message;
}

}  // namespace

void append(const Message& message, Bytes& out) {
  check(message.key.size() <= kMostKey, "a key is short");
  const std::size_t length = kFixedBytes + message.key.size() + message.value.size();
  check(length <= kMostMessage, "a message is not too long");
  put(static_cast<std::uint32_t>(length), out);
  put(static_cast<std::uint8_t>(message.kind), out);
  put(message.id, out);
  put(message.number, out);
  put_text(message.key, out);
  out.insert(out.end(), message.value.begin(), message.value.end());
}

void MessageBuffer::add(std::span<const std::byte> bytes) {
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::optional<Message> MessageBuffer::next(std::size_t most) {
  auto rest = std::span<const std::byte>(bytes_).subspan(taken_);
  if (bad_ || rest.size() < kLengthBytes) return std::nullopt;
  const auto length = take<std::uint32_t>(rest);
  bad_ = length < kFixedBytes || length > most;
  if (bad_ || rest.size() < length) return std::nullopt;
  std::optional<Message> message = decode(rest.first(length));
  bad_ = !message;
  taken_ += kLengthBytes + length;
  return message;
}

Bytes encode(const Hello& hello) {
  Bytes bytes;
  put(static_cast<std::uint8_t>(hello.kind), bytes);
  put(hello.number, bytes);
  put(hello.ranks, bytes);
  put(hello.pid, bytes);
  put_text(hello.host, bytes);
  put_text(hello.settings_hash, bytes);
  return bytes;
}

std::optional<Hello> decode_hello(std::span<const std::byte> bytes) {
  if (bytes.size() < 1 + 3 * sizeof(std::int32_t)) return std::nullopt;
  const auto kind = take<std::uint8_t>(bytes);
  if (kind > static_cast<std::uint8_t>(PeerKind::launcher)) return std::nullopt;
  Hello hello{.kind = static_cast<PeerKind>(kind)};
  hello.number = take<std::int32_t>(bytes);
  hello.ranks = take<std::int32_t>(bytes);
  hello.pid = take<std::int32_t>(bytes);
  std::optional<std::string> host = take_text(bytes), hash = take_text(bytes);
  if (!host || !hash || !bytes.empty()) return std::nullopt;
  hello.host = printable(*host);  // it is printed on all machines
  hello.settings_hash = std::move(*hash);
  return hello;
}

std::string name_of(PeerKind kind, int number) {
  return (kind == PeerKind::rank ? "rank " : "node ") + std::to_string(number);
}

}  // namespace convoy
