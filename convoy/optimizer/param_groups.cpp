// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/param_groups.h"

namespace convoy {

ParamGroups::ParamGroups(const Layout& layout, const ParameterOptions& options) {
  const auto options_of = [&](const Segment& segment, SegmentId id) {
    const bool decays = segment.role == Role::weight || !options.decay_only_weights;
    const bool shifts = segment.role == Role::bias || segment.role == Role::norm_shift;
    return GroupOptions{.weight_decay = decays ? options.weight_decay : 0,
                        .rate_factor = shifts ? options.bias_rate_factor : 1,
                        .frozen = options.frozen == id};
  };
  for (std::size_t i = 0; i < layout.segments().size(); ++i) {
    const Segment& segment = layout.segments()[i];
    const GroupOptions group = options_of(segment, SegmentId{i});
    if (groups_.empty() || groups_.back().options != group) {
      groups_.push_back({0, group});
    }
    groups_.back().end = segment.range.end;
  }
  if (!groups_.empty()) groups_.back().end = layout.size();
}

}  // namespace convoy
