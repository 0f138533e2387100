// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps_transport/shared_numbers.h"

#include <cerrno>
#include <cstring>
#include <functional>
#include <random>

#include "convoy/base/range.h"
#include "convoy/wire/socket.h"

namespace convoy {
namespace {

constexpr std::size_t kLine = 64;  // bytes: the key's size, and the alignment of parts

std::size_t round_to_lines(std::size_t bytes) { return round_up(bytes, kLine); }

std::uint64_t random_key() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source() | 1;  // never 0
}

}  // namespace

std::uint64_t machine_number() {
  static const std::uint64_t number = std::hash<std::string>{}(machine_identity());
  return number;
}

SharedNumbers::SharedNumbers(const HelloBody& sizes)
    : pushed_bytes_(pushed_bytes(sizes)),
      values_bytes_(sizes.pulled_bytes),
      memory_(kLine + round_to_lines(pushed_bytes_) + round_to_lines(values_bytes_)),
      key_(random_key()) {
  std::memcpy(memory_.data(), &key_, sizeof(key_));
}

SharedNumbers::SharedNumbers(const HelloBody& sizes, const WelcomeBody& welcome)
    : pushed_bytes_(pushed_bytes(sizes)),
      values_bytes_(sizes.pulled_bytes),
      memory_({static_cast<int>(welcome.process), static_cast<int>(welcome.descriptor)},
              kLine + round_to_lines(pushed_bytes_) + round_to_lines(values_bytes_)) {
  std::memcpy(&key_, memory_.data(), sizeof(key_));
  // The descriptor's number may belong to another file by now.
  if (key_ != welcome.key) throw storage_error("shared memory", "find its key", EINVAL);
}

WelcomeBody SharedNumbers::welcome() const {
  const MemoryPlace place = memory_.place();
  return {.process = static_cast<std::uint64_t>(place.process),
          .descriptor = static_cast<std::uint64_t>(place.descriptor),
          .key = key_};
}

std::span<std::byte> SharedNumbers::pushed() const {
  return {memory_.data() + kLine, pushed_bytes_};
}

std::span<std::byte> SharedNumbers::values() const {
  return {memory_.data() + kLine + round_to_lines(pushed_bytes_), values_bytes_};
}

std::unique_ptr<SharedNumbers> find_shared_numbers(const HelloBody& sizes,
                                                   const WelcomeBody& welcome) {
  if (welcome.key == 0) return nullptr;
  try {
    return std::make_unique<SharedNumbers>(sizes, welcome);
  } catch (const InputError&) {
    return nullptr;  // falls back to sending over the socket
  }
}

std::unique_ptr<SharedNumbers> make_shared_numbers(const HelloBody& sizes, int socket) {
  if (sizes.machine != machine_number() || !is_from_here(socket)) return nullptr;
  try {
    return std::make_unique<SharedNumbers>(sizes);
  } catch (const InputError&) {
    return nullptr;
  }
}

}  // namespace convoy
