// SPDX-License-Identifier: Apache-2.0
//
// One step of a model beside PyTorch's, from the same numbers.

#pragma once

#include "convoy/network/network.h"
#include "tests/network/torch_formula.h"

namespace convoy {

/// Logits and gradients of a batch, with weights and images by formula.
inline void expect_as_torch(const Model& model, std::size_t samples,
                            const nlohmann::json& expected) {
  const Layout layout = build_layout(model);
  FlatBuffer values(layout), gradients(layout);
  torch_fill(layout, values);
  const std::vector<float> images = torch_images(samples * model.input.size());
  const std::vector<std::int32_t> labels = torch_labels(samples);
  ThreadTeam team(2);
  Network network(model, layout, {.most_samples = samples}, team);
  PassListener nobody;

  network.forward({images, labels}, values, {}, nobody);
  const auto classes = static_cast<std::size_t>(class_count(model));
  std::vector<float> logits;
  for (std::size_t i = 0; i < samples * classes; ++i) {
    logits.push_back(network.logit(i / classes, i % classes));
  }
  network.backward(/*scale=*/1, values, gradients, nobody);

  expect_described(expected["logits"], logits, 1e-4, "logits");
  ASSERT_EQ(expected["gradients"].size(), layout.segments().size());
  for (std::size_t i = 0; i < layout.segments().size(); ++i) {
    const Segment& segment = layout.segments()[i];
    expect_described(expected["gradients"][i], gradients.view(segment.range), 1e-4,
                     segment.name);
  }
}

}  // namespace convoy
