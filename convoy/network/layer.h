// SPDX-License-Identifier: Apache-2.0
//
// Layer: one operation of a model, with its options; and LayerKind: all that the engine
// knows of such layers. There is one kind per file pair of layers/, which registers it:
//
//   struct Gelu {};                                   // the options, in layers/gelu.h
//   class GeluKind final : public KindOf<Gelu, GeluKind> { ... };     // layers/gelu.cpp
//   const Registered<GeluKind> kGelu;
//
// Everything else (planning, cost, TensorBoard's graph, YAML, the tests of gradients)
// goes through the kind, so a new layer changes no other file. docs/adding-a-layer.md
// walks through one.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "convoy/base/shape.h"
#include "convoy/network/layer_options.h"
#include "convoy/network/stage.h"
#include "convoy/params/layout.h"

namespace convoy {

class LayerKind;
struct StageSpec;

/// How the weights of convolutions and linear layers are initialised.
enum class WeightInit {
  uniform,          // PyTorch's default: within 1 / sqrt(inputs of one output)
  kaiming_fan_out,  // torchvision's ResNets: convolutions normal, of variance
                    // 2 / (outputs of one input)
  dirac,  // uniform, but the first filters of 3x3 convolutions pass inputs through
  timm    // timm's transformers: linear weights normal, of deviation 0.02
};

/// What `network.winograd` allows: any form, only the most exact ones, or none.
enum class WinogradMode { f4, f2, off };

/// A layer of a registered kind. Immutable; copies share the options.
class Layer {
 public:
  template <class Options>
  requires(!std::is_same_v<Options, Layer>) Layer(Options options);

  const LayerKind& kind() const { return *kind_; }
  /// "conv1", or "" if layers of its kind have no name.
  const std::string& name() const { return name_; }

  /// The options, if they are of that type.
  template <class Options>
  const Options* get_if() const {
    return type_ == typeid(Options) ? static_cast<const Options*>(options_.get())
                                    : nullptr;
  }
  template <class Options>
  const Options& get() const {
    return *get_if<Options>();
  }

 private:
  const LayerKind* kind_;
  std::type_index type_;
  std::shared_ptr<const void> options_;
  std::string name_;
};

/// What a layer's description depends on besides its options.
struct LayerContext {
  std::span<const Shape> src;  // of its sources
  WeightInit weight_init = WeightInit::uniform;
  WinogradMode winograd = WinogradMode::f4;
  bool training = true;

  Shape first() const { return src.front(); }
};

/// A tensor of a layer, with its whole name. Layers that list the same name share it.
struct TensorSpec {
  std::string name;
  std::vector<std::size_t> shape;
  Role role;
  Initialization init{};

  std::size_t size() const;
};

/// What a layer makes of its sources.
struct LayerDescription {
  Shape dst;
  std::vector<TensorSpec> parameters{};
  std::vector<TensorSpec> statistics{};  // running ones
  std::uint64_t flops = 0;  // of one sample's forward pass; a multiply-add counts two
  std::uint64_t real_flops = 0;  // as it is computed; 0: the same
  bool identity = false;         // it gives its first source as it is, and has no stage
  std::map<std::string, std::string> details{};  // for TensorBoard's graph
};

/// What a kind is called, and where its layers belong.
struct LayerTraits {
  const char* name;       // "max_pool": in YAML files, messages and graphs
  const char* operation;  // "MaxPool", the operation in TensorBoard's graph
  int least_sources = 1, most_sources = 1;
  bool begins_unit = false;  // a layer with parameters begins a unit of its own
  bool flattens = false;     // gives features without extent, whatever it reads
  bool ends_block = false;   // belongs to the block before it in TensorBoard's graph
};

/// A layer for tests: every kind is tested with some.
struct LayerExample {
  std::string name;  // "StrideTwo"
  Layer layer;
  std::vector<Shape> src;
};

/// A layer among its neighbours: see model.h.
struct LayerInfo;

class LayerKind {
 public:
  explicit LayerKind(const LayerTraits& traits) : traits_(traits) {}
  virtual ~LayerKind() = default;

  const LayerTraits& traits() const { return traits_; }

  /// Throws InputError when the layer does not fit its sources.
  virtual LayerDescription describe(const Layer& layer,
                                    const LayerContext& context) const = 0;

  /// Whether `next`, which reads the result of `stage` as its first source, is computed
  /// in the same stage. Requires: the stage begins with a layer of this kind, and nothing
  /// else reads its result.
  virtual bool joins(const StageSpec& stage, const LayerInfo& next) const;

  /// Requires: the stage begins with a layer of this kind.
  virtual std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                            const StageContext& context) const = 0;

  /// The options as named values, and a layer from them. Throws InputError.
  virtual LayerOptions options(const Layer& layer) const = 0;
  virtual Layer from_options(const LayerOptions& options) const = 0;

  virtual std::vector<LayerExample> examples() const = 0;

 protected:
  /// Throws InputError unless a layer of this kind takes so many.
  void refuse_sources(std::size_t count) const;

 private:
  LayerTraits traits_;
};

/// Throws InputError about a layer of a model.
[[noreturn]] void refuse_layer(const std::string& layer, const std::string& found,
                               const std::string& expected, const std::string& hint = "");

/// All kinds, sorted by name.
std::span<const LayerKind* const> layer_kinds();

/// The kind of that name. Throws InputError.
const LayerKind& find_layer_kind(const std::string& name);

void register_layer_kind(std::unique_ptr<const LayerKind> kind);

/// The kind of layers with such options.
template <class Options>
inline const LayerKind* kind_of = nullptr;

/// A kind whose layers have `Options`, a struct whose fields() lists its members. The
/// derived class has describe(const Options&, const LayerContext&), make_stage() and
/// examples(), and joins() if its stage takes other layers in.
template <class Options, class Derived>
class KindOf : public LayerKind {
 public:
  using LayerKind::LayerKind;
  using OptionsType = Options;

  LayerDescription describe(const Layer& layer, const LayerContext& context) const final {
    this->refuse_sources(context.src.size());
    return derived().describe_options(layer.get<Options>(), context);
  }
  LayerOptions options(const Layer& layer) const final {
    return options_of(layer.get<Options>());
  }
  Layer from_options(const LayerOptions& options) const final {
    return read_options<Options>(this->traits().name, options);
  }

 private:
  const Derived& derived() const { return static_cast<const Derived&>(*this); }
};

/// Registers a kind before main() begins.
template <class Kind>
struct Registered {
  Registered() {
    auto kind = std::make_unique<const Kind>();
    kind_of<typename Kind::OptionsType> = kind.get();
    register_layer_kind(std::move(kind));
  }
};

template <class Options>
requires(!std::is_same_v<Options, Layer>) Layer::Layer(Options options)
    : kind_(kind_of<Options>),
      type_(typeid(Options)),
      options_(std::make_shared<const Options>(std::move(options))) {
  if constexpr (requires(const Options& o) { o.name; }) name_ = get<Options>().name;
}

}  // namespace convoy
