// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/param_groups.h"

namespace convoy {

ParamGroups::ParamGroups(const Layout& layout, const ParameterOptions& options) {
  const auto manner_of = [&](const Segment& segment, SegmentId id) {
    const bool decays = segment.role == Role::weight || !options.decay_only_weights;
    const bool shifts = segment.role == Role::bias || segment.role == Role::norm_shift;
    return GroupOptions{.weight_decay = decays ? options.weight_decay : 0,
                        .rate_factor = shifts ? options.bias_rate_factor : 1,
                        .frozen = options.frozen == id};
  };
  for (std::size_t i = 0; i < layout.segments().size(); ++i) {
    const Segment& segment = layout.segments()[i];
    const GroupOptions manner = manner_of(segment, SegmentId{i});
    if (stretches_.empty() || stretches_.back().manner != manner) {
      stretches_.push_back({0, manner});
    }
    stretches_.back().end = segment.range.end;
  }
  if (!stretches_.empty()) stretches_.back().end = layout.size();
}

}  // namespace convoy
