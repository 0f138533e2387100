// SPDX-License-Identifier: Apache-2.0
//
// Initialization: how the first values of a tensor are drawn.

#pragma once

namespace convoy {

struct Initialization {
  enum class Kind {
    constant,  // `scale` everywhere
    uniform,   // within +-scale
    normal,    // of standard deviation `scale`
    dirac      // uniform, but filter i passes input i through, as far as there are inputs
  };

  Kind kind = Kind::constant;
  float scale = 0;

  static constexpr Initialization zeros() { return {Kind::constant, 0}; }
  static constexpr Initialization ones() { return {Kind::constant, 1}; }
  static constexpr Initialization uniform(float bound) { return {Kind::uniform, bound}; }
  static constexpr Initialization normal(float deviation) {
    return {Kind::normal, deviation};
  }
};

}  // namespace convoy
