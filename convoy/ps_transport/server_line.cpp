// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps_transport/server_line.h"

#include <fmt/format.h>
#include <poll.h>

#include "convoy/base/error.h"

namespace convoy {

void ServerLine::introduce(const HelloBody& hello) {
  stream.send(FrameKind::hello, bytes_in(hello));
  const FrameHead head = receive_head();
  if (head.kind == FrameKind::refused) throw_refusal(head.length);
  if (head.kind != FrameKind::admitted || head.length != sizeof(WelcomeBody)) {
    lose("it sent no welcome");
  }
  WelcomeBody welcome;
  stream.receive(writable_bytes_in(welcome));
  shared = find_shared_numbers(hello, welcome);
}

void ServerLine::send_push(std::span<const FrameStream::Part> parts, std::size_t words) {
  if (shared) {
    stream.put(parts.subspan(words), shared->pushed());
    stream.send(FrameKind::shared_push, parts.first(words));
  } else {
    stream.send(FrameKind::push, parts);
  }
}

void ServerLine::take_frame(FlatBuffer& values) {
  const FrameHead head = receive_head();
  switch (head.kind) {
    case FrameKind::beat:
      break;
    case FrameKind::assignment:
      answer = receive_assignment(head.length, values);
      break;
    case FrameKind::shared_assignment:
      answer = take_shared_assignment(head.length, values);
      break;
    case FrameKind::over:
      answer = decode_over(receive_text(head.length));
      break;
    case FrameKind::refused:
      throw_refusal(head.length);
    default:
      lose("it sent an unexpected message");
  }
  last_heard = Steady::now();
}

void ServerLine::lose(const std::string& why) const {
  throw PeerError(number, fmt::format("{} is lost: {}", name, why));
}

bool ServerLine::is_silent(std::chrono::milliseconds limit) const {
  if (Steady::now() <= last_heard + limit) return false;
  // Receiving another server's values may have taken long.
  pollfd wait{stream.socket(), POLLIN, 0};
  return ::poll(&wait, 1, 0) == 0;
}

/// Receives a frame head and checks its magic.
FrameHead ServerLine::receive_head() {
  const FrameHead head = stream.receive_head();
  if (head.magic != kFrameMagic) lose("it sent something other than a message");
  last_heard = Steady::now();
  return head;
}

/// Receives the rest of a frame that contains a text.
Bytes ServerLine::receive_text(std::uint64_t length) {
  if (length > kMostText) lose("it sent an unexpected message");
  Bytes body(length);
  stream.receive(body);
  return body;
}

std::size_t ServerLine::pulled_bytes() const {
  const std::size_t values =
      types == nullptr ? range.size() * sizeof(float) : types->bytes(range);
  return values + statistics.size_bytes();
}

/// Calls take(bytes) for what is received, in order.
template <class Take>
void ServerLine::take_values(FlatBuffer& values, const Take& take) {
  if (types == nullptr) {
    take(std::as_writable_bytes(values.view(range)));
  } else {
    packed.resize(types->bytes(range));
    take(std::span(packed));
    types->unpack(range, packed.data(), values.data() + range.begin);
  }
  if (!statistics.empty()) take(std::as_writable_bytes(statistics));
}

Assignment ServerLine::receive_assignment(std::uint64_t length, FlatBuffer& values) {
  if (length != assignment_length(pulled_bytes())) lose("it sent values of a wrong size");
  const Assignment assignment = receive_batch();
  take_values(values, [&](std::span<std::byte> bytes) { stream.receive(bytes); });
  return assignment;
}

Assignment ServerLine::take_shared_assignment(std::uint64_t length, FlatBuffer& values) {
  if (!shared || length != assignment_length(0)) lose("it sent an unexpected message");
  const Assignment assignment = receive_batch();
  std::span<const std::byte> left = shared->values();
  take_values(values, [&](std::span<std::byte> bytes) {
    stream.take(bytes, left.first(bytes.size()));
    left = left.subspan(bytes.size());
  });
  return assignment;
}

/// Receives the assignment, before its values.
Assignment ServerLine::receive_batch() {
  AssignmentHead head;
  stream.receive(writable_bytes_in(head));
  version = head.version;
  return {
      .sequence = head.sequence, .version = head.version, .loss_scale = head.loss_scale};
}

void ServerLine::throw_refusal(std::uint64_t length) {
  const Rejection why = decode_rejection(receive_text(length));
  throw InputError(
      why.kind,
      {.where = name, .found = why.found, .expected = why.expected, .hint = ""});
}

}  // namespace convoy
