// SPDX-License-Identifier: Apache-2.0
//
// The optimizers by name. To add one: a row in registry.cpp.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/optimizer/optimizer.h"
#include "convoy/optimizer/param_groups.h"
#include "convoy/system/thread_team.h"

namespace convoy {

/// Options of all optimizers; each reads its own. Learning rate and momentum (or beta1)
/// are set for every step.
struct OptimizerOptions {
  bool nesterov = false;  // sgd
  double beta2 = 0.999;   // adam, adamw
  double eps = 1e-8;      // adam, adamw
  ParameterOptions parameters{};
};

std::vector<std::string> optimizer_names();

/// Borrows the team. Requires: one of the names.
std::unique_ptr<Optimizer> make_optimizer(std::string_view name, const Layout& layout,
                                          const OptimizerOptions& options,
                                          ThreadTeam& team);

}  // namespace convoy
