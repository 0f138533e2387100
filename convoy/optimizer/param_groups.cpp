// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/param_groups.h"

#include "convoy/base/error.h"

namespace convoy {
namespace {

GroupOptions options_of(const Segment& segment, const ParameterOptions& options,
                        const SegmentRule& rule) {
  const bool decays = segment.role == Role::weight || !options.decay_only_weights;
  const bool shifts = segment.role == Role::bias || segment.role == Role::norm_shift;
  const float decay = decays ? options.weight_decay : 0;
  const double factor = shifts ? options.bias_rate_factor : 1;
  return {.weight_decay = static_cast<float>(rule.weight_decay.value_or(decay)),
          .rate_factor = static_cast<float>(factor * rule.rate_factor),
          .frozen = !segment.trained};
}

}  // namespace

ParamGroups::ParamGroups(const Layout& layout, const ParameterOptions& options) {
  check(options.rules.empty() || options.rules.size() == layout.segments().size(),
        "there is one rule per segment");
  const SegmentRule none;
  for (std::size_t i = 0; i < layout.segments().size(); ++i) {
    const Segment& segment = layout.segments()[i];
    const GroupOptions group =
        options_of(segment, options, options.rules.empty() ? none : options.rules[i]);
    if (groups_.empty() || groups_.back().options != group) {
      groups_.push_back({0, group});
    }
    groups_.back().end = segment.range.end;
  }
  if (!groups_.empty()) groups_.back().end = layout.size();
}

}  // namespace convoy
