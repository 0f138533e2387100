// SPDX-License-Identifier: Apache-2.0
//
// Descriptor: owns a file descriptor and closes it.

#pragma once

#include <unistd.h>

#include <utility>

namespace convoy {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

  /// Releases ownership: the caller has to close it.
  int release() { return std::exchange(number_, -1); }

  void reset() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

}  // namespace convoy
