// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps_transport/frame.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace convoy {
namespace {

constexpr std::size_t kNumber = sizeof(std::uint64_t);
constexpr std::size_t kMostWords = 1000;  // bytes of one text; longer texts are cut

void put(std::uint64_t number, Bytes& out) {
  const auto bytes = bytes_in(number);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void put(std::string_view text, Bytes& out) {
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::string_view shortened(const std::string& text) {
  return std::string_view(text).substr(0, kMostWords);
}

/// Removes and returns the number at the beginning; 0 if there is none.
std::uint64_t take_number(std::span<const std::byte>& bytes) {
  std::uint64_t number = 0;
  if (bytes.size() < kNumber) {
    bytes = {};
    return number;
  }
  std::memcpy(&number, bytes.data(), kNumber);
  bytes = bytes.subspan(kNumber);
  return number;
}

}  // namespace

std::uint64_t pushed_bytes(const HelloBody& sizes) {
  return sizes.partials * (sizes.gradients * bytes_of(sizes.gradient_type) +
                           sizes.statistics * sizeof(float));
}

std::uint64_t push_length(const HelloBody& sizes) {
  return shared_push_length(sizes) + pushed_bytes(sizes);
}

std::uint64_t shared_push_length(const HelloBody& sizes) {
  return sizeof(PushHead) + sizes.microbatches * sizeof(LossSum);
}

std::uint64_t assignment_length(std::size_t bytes) {
  return sizeof(AssignmentHead) + bytes;
}

PushHead head_of(const Push& push) {
  return {push.sequence,         push.version,      push.samples,
          push.own_seconds,      push.data_seconds, push.slept_seconds,
          push.exchange_seconds, push.loss_scale,   push.is_finite ? 1U : 0U};
}

Push push_of(const PushHead& head) {
  return {.sequence = head.sequence,
          .version = head.version,
          .samples = head.samples,
          .own_seconds = head.own_seconds,
          .data_seconds = head.data_seconds,
          .slept_seconds = head.slept_seconds,
          .exchange_seconds = head.exchange_seconds,
          .loss_scale = head.loss_scale,
          .is_finite = head.is_finite != 0};
}

Bytes encode(const Rejection& rejection) {
  Bytes body;
  const std::string_view found = shortened(rejection.found);
  put(rejection.kind == InputKind::settings ? 1U : 0U, body);
  put(found.size(), body);
  put(found, body);
  put(shortened(rejection.expected), body);
  return body;
}

Rejection decode_rejection(std::span<const std::byte> body) {
  Rejection rejection;
  if (take_number(body) == 1) rejection.kind = InputKind::settings;
  const std::size_t found = std::min<std::size_t>(take_number(body), body.size());
  rejection.found = text_of(body.first(found));
  rejection.expected = text_of(body.subspan(found));
  return rejection;
}

Bytes encode_over(const Assignment& over) {
  Bytes body;
  put(static_cast<std::uint64_t>(over.code), body);
  put(shortened(over.reason), body);
  return body;
}

Assignment decode_over(std::span<const std::byte> body) {
  const ExitCode code = exit_code_of(static_cast<std::int64_t>(take_number(body)));
  return {.over = true, .code = code, .reason = text_of(body)};
}

}  // namespace convoy
