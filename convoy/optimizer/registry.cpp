// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/registry.h"

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/optimizer/adam.h"
#include "convoy/optimizer/sgd.h"

namespace convoy {
namespace {

using Made = std::unique_ptr<Optimizer>;

struct Entry {
  std::string_view name;
  Made (*make)(const Layout&, const OptimizerOptions&, ThreadTeam&);
};

Made make_sgd(const Layout& layout, const OptimizerOptions& options, ThreadTeam& team) {
  return std::make_unique<Sgd>(
      layout, SgdOptions{.nesterov = options.nesterov, .parameters = options.parameters},
      team);
}

template <bool kDecoupled>
Made make_adam(const Layout& layout, const OptimizerOptions& options, ThreadTeam& team) {
  return std::make_unique<Adam>(layout,
                                AdamOptions{.beta2 = options.beta2,
                                            .eps = options.eps,
                                            .decoupled = kDecoupled,
                                            .parameters = options.parameters},
                                team);
}

constexpr Entry kOptimizers[] = {
    {"sgd", make_sgd},
    {"adam", make_adam</*decoupled=*/false>},
    {"adamw", make_adam</*decoupled=*/true>},
};

}  // namespace

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kOptimizers) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<Optimizer> make_optimizer(std::string_view name, const Layout& layout,
                                          const OptimizerOptions& options,
                                          ThreadTeam& team) {
  const auto* entry = std::ranges::find(kOptimizers, name, &Entry::name);
  check(entry != std::end(kOptimizers), "an optimizer's name is registered");
  return entry->make(layout, options, team);
}

}  // namespace convoy
