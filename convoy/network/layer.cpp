// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

struct LayerRegistry {
  std::vector<std::unique_ptr<const LayerKind>> owned;
  std::vector<const LayerKind*> sorted;
};

LayerRegistry& layer_registry() {
  static LayerRegistry registry;
  return registry;
}

std::string_view kind_name(const LayerKind* kind) { return kind->traits().name; }

}  // namespace

std::size_t TensorSpec::size() const {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

void LayerKind::refuse_sources(std::size_t count) const {
  const auto least = static_cast<std::size_t>(traits_.least_sources);
  const auto most = static_cast<std::size_t>(traits_.most_sources);
  if (count >= least && count <= most) return;
  refuse_layer(
      traits_.name, fmt::format("{} sources", count),
      least == most ? fmt::format("{}", least) : fmt::format("at least {}", least));
}

bool LayerKind::joins(const StageSpec&, const LayerInfo&) const { return false; }

void refuse_layer(const std::string& layer, const std::string& found,
                  const std::string& expected, const std::string& hint) {
  throw InputError(
      InputKind::settings,
      {.where = "model: " + layer, .found = found, .expected = expected, .hint = hint});
}

void register_layer_kind(std::unique_ptr<const LayerKind> kind) {
  LayerRegistry& registry = layer_registry();
  const auto place =
      std::ranges::lower_bound(registry.sorted, kind_name(kind.get()), {}, kind_name);
  registry.sorted.insert(place, kind.get());
  registry.owned.push_back(std::move(kind));
}

std::span<const LayerKind* const> layer_kinds() { return layer_registry().sorted; }

const LayerKind& find_layer_kind(const std::string& name) {
  const auto kind = std::ranges::find(layer_kinds(), std::string_view(name), kind_name);
  if (kind != layer_kinds().end()) return **kind;
  std::vector<std::string> names;
  for (const LayerKind* known : layer_kinds()) names.emplace_back(kind_name(known));
  const std::string nearest = nearest_name(name, names);
  throw InputError(InputKind::data,
                   {.where = "layer",
                    .found = name,
                    .expected = "one of " + join(names),
                    .hint = nearest.empty() ? "" : "nearest name: " + nearest});
}

}  // namespace convoy
