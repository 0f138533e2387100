// SPDX-License-Identifier: Apache-2.0
//
// Made-up numbers, batches and models for tests of the network.

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "convoy/base/random.h"
#include "convoy/models/models.h"
#include "convoy/network/layers/add.h"
#include "convoy/network/layers/attention.h"
#include "convoy/network/layers/average_pool.h"
#include "convoy/network/layers/batch_norm.h"
#include "convoy/network/layers/class_token.h"
#include "convoy/network/layers/convolution.h"
#include "convoy/network/layers/dropout.h"
#include "convoy/network/layers/flatten.h"
#include "convoy/network/layers/gelu.h"
#include "convoy/network/layers/layer_norm.h"
#include "convoy/network/layers/linear.h"
#include "convoy/network/layers/max_pool.h"
#include "convoy/network/layers/patches.h"
#include "convoy/network/layers/position_embedding.h"
#include "convoy/network/layers/relu.h"
#include "convoy/network/layers/take_row.h"
#include "convoy/network/model.h"
#include "convoy/network/network.h"

namespace convoy {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Uniform in [-1, 1).
inline std::vector<float> made_up_numbers(std::size_t count, std::uint32_t label) {
  const RandomStream random(/*seed=*/1, RngStream::synthetic, label);
  std::vector<float> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(2 * random.uniform(i) - 1);
  return numbers;
}

struct MadeUpBatch {
  MadeUpBatch(const Model& model, std::size_t count, std::uint32_t label = 0)
      : images(made_up_numbers(count * model.input.size(), 2 * label)) {
    const RandomStream random(/*seed=*/1, RngStream::synthetic, 2 * label + 1);
    const auto classes = static_cast<std::uint32_t>(class_count(model));
    for (std::size_t i = 0; i < count; ++i) {
      labels.push_back(static_cast<std::int32_t>(random.word(i) % classes));
    }
  }

  Samples samples() const { return {images, labels}; }

  std::vector<float> images;
  std::vector<std::int32_t> labels;
};

/// The elements of the layout that are padding.
inline std::vector<std::size_t> padding_of(const Layout& layout) {
  std::vector<std::size_t> padding;
  std::size_t end = 0;
  const auto add_up_to = [&](std::size_t begin) {
    for (; end < begin; ++end) padding.push_back(end);
  };
  for (const Segment& segment : layout.segments()) {
    add_up_to(segment.range.begin);
    end = segment.range.end;
  }
  add_up_to(layout.size());
  return padding;
}

/// Nobody may read padding: it becomes not-a-number.
inline void spoil_padding(const Layout& layout, FlatBuffer& values) {
  for (const std::size_t i : padding_of(layout)) values.data()[i] = kNan;
}

/// First values, with spoiled padding.
inline FlatBuffer made_up_values(const Layout& layout, std::uint64_t seed = 1) {
  FlatBuffer values(layout);
  initialize(layout, seed, values);
  spoil_padding(layout, values);
  return values;
}

/// Small, with every kind of layer, and no size that is a multiple of anything.
inline constexpr Shape kOddInput = {2, 11, 9};
inline Sequential odd_modules(float dropout = 0.3f) {
  return {Convolution{.name = "a", .channels = 5, .kernel = 3, .padding = 1},
          Relu{},
          MaxPool{2},
          Convolution{.name = "b", .channels = 7, .kernel = 3, .stride = 2, .padding = 2},
          MaxPool{3, 1},
          Dropout{dropout},
          Flatten{},
          Linear{"c", 13},
          Relu{},
          Linear{"d", 3}};
}
inline Model odd_model(float dropout = 0.3f) {
  return {"odd", kOddInput, odd_modules(dropout)};
}

/// Every model but those that are a wider form of another, whose parameters alone would
/// take most of a test's time.
inline std::vector<std::string> models_of_all_forms() {
  std::vector<std::string> names = model_names();
  std::erase_if(names, [](const std::string& name) {
    return name == "vit_s_16" || name == "vit_b_16" || name == "vit_b_32";
  });
  return names;
}

/// These and the odd one: what the laws are tested over.
inline std::vector<std::string> names_of_all() {
  std::vector<std::string> names = models_of_all_forms();
  names.emplace_back("odd");
  return names;
}

/// A model by name, for images so small that a pass is short, or the odd one.
inline Model small_model(const std::string& name) {
  if (name == "odd") return odd_model();
  if (name == "mlp6") return make_model(name, {1, 8, 8}, 10);
  if (name == "vgg11") return make_model(name, {2, 32, 32}, 10);
  if (name.starts_with("fastnet")) return make_model(name, {2, 20, 17}, 10);
  if (name == "resnet18_cifar") return make_model(name, {2, 13, 11}, 10);
  if (name == "vit_b_32" || name == "vit_ti_16") return make_model(name, {2, 32, 32}, 10);
  if (name.starts_with("vit")) return make_model(name, {2, 16, 16}, 10);
  if (name.starts_with("resnet") || name.starts_with("mobilenet"))
    return make_model(name, {2, 33, 30}, 10);
  return make_model(name, {1, 14, 14}, 10);
}

}  // namespace convoy
