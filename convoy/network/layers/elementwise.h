// SPDX-License-Identifier: Apache-2.0
//
// Layers that compute one function of each number. Such a layer is its options and one
// line that names the function:
//
//   class TanhKind final : public ElementwiseKind<Tanh, TanhKind> {
//    public:
//     TanhKind() : ElementwiseKind("tanh", "Tanh") {}
//     static ActivationOf function(const Tanh&) { return {ActivationFunction::tanh}; }
//   };

#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "convoy/network/kernels/point/activations.h"
#include "convoy/network/stage_builder.h"

namespace convoy {

/// A function of kernels/point/activations.h with its constants.
struct ActivationOf {
  ActivationFunction function;
  ActivationConstants constants{};
};

/// The gradient follows from the source.
class ElementwiseStage final : public Stage {
 public:
  ElementwiseStage(const ActivationOf& activation, Shape shape)
      : activation_(activation), shape_(shape) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    const ActivationKernels& kernels = this->kernels(pass);
    for_chunks(pass, [&](std::size_t from, std::size_t size) {
      Piece a, b;
      float* to = dst.values.target(from, b.numbers);
      kernels.value(
          {src[0].values.read(from, size, a.numbers), to, size, activation_.constants});
      dst.values.store(from, size, to);
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    const ActivationKernels& kernels = this->kernels(pass);
    for_chunks(pass, [&](std::size_t from, std::size_t size) {
      Piece a, b, c;
      float* to = src[0].gradient.target(from, c.numbers);
      kernels.gradient({src[0].values.read(from, size, a.numbers),
                        dst.gradient.read(from, size, b.numbers), to, size,
                        activation_.constants});
      src[0].gradient.store(from, size, to);
    });
  }

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return false; }
  bool is_cheap() const override { return true; }
  bool takes_stored() const override { return true; }

 private:
  static constexpr std::size_t kChunk = 4096;  // a multiple of kPack

  const ActivationKernels& kernels(const Pass& pass) const {
    return activation_kernels(pass.kernels, activation_.function);
  }

  template <class Work>
  void for_chunks(const Pass& pass, const Work& work) const {
    const std::size_t all = pass.packs(shape_) * pack_floats(shape_);
    pass.team.run((all + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
      for_pieces(pass.activations, chunk * kChunk, std::min(kChunk, all - chunk * kChunk),
                 work);
    });
  }

  ActivationOf activation_;
  Shape shape_;
};

/// The derived class has function(const Options&).
template <class Options, class Derived>
class ElementwiseKind : public KindOf<Options, Derived> {
 public:
  ElementwiseKind(const char* name, const char* operation)
      : KindOf<Options, Derived>(
            {.name = name, .operation = operation, .ends_block = true}) {}

  static LayerDescription describe_options(const Options&, const LayerContext& context) {
    return {.dst = context.first()};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<ElementwiseStage>(Derived::function(spec.options<Options>()),
                                              spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", Options{}, {{3, 5, 4}}},
            {"OfTokens", Options{}, {{7, 1, 1, 5}}},
            {"OfManyNumbers", Options{}, {{13, 9, 7}}}};
  }
};

}  // namespace convoy
