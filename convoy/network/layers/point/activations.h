// SPDX-License-Identifier: Apache-2.0
//
// Activation functions, as PyTorch defines them.

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// 1 / (1 + e^-x).
struct Sigmoid {
  static auto fields() { return std::tuple{}; }
};

/// x times its sigmoid.
struct Silu {
  static auto fields() { return std::tuple{}; }
};

/// (x + 3) / 6, at least 0 and at most 1.
struct HardSigmoid {
  static auto fields() { return std::tuple{}; }
};

/// x times its hard sigmoid.
struct HardSwish {
  static auto fields() { return std::tuple{}; }
};

struct Tanh {
  static auto fields() { return std::tuple{}; }
};

/// At least min and at most max: a ReLU6 unless given others.
struct Clip {
  float min = 0, max = 6;

  static auto fields() {
    return std::tuple{Field{"min", &Clip::min}, Field{"max", &Clip::max}};
  }
};

/// x above zero, slope * x below.
struct LeakyRelu {
  float slope = 0.01f;

  static auto fields() { return std::tuple{Field{"slope", &LeakyRelu::slope}}; }
};

}  // namespace convoy
