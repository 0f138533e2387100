// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps/delay_compensation.h"

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/optimizer/param_groups.h"

namespace convoy {
namespace {

constexpr float kEpsilon = 1e-7f;  // the paper's

void add_way(float lambda, std::size_t count, const float* __restrict values,
             const float* __restrict pulled, float* __restrict gradients) {
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradients[i];
    gradients[i] = g + lambda * g * g * (values[i] - pulled[i]);
  }
}

void add_to_squares(float decay, float rest, std::size_t count,
                    const float* __restrict gradients, float* __restrict squares) {
  for (std::size_t i = 0; i < count; ++i) {
    squares[i] = decay * squares[i] + rest * gradients[i] * gradients[i];
  }
}

void add_adapted_way(float lambda, std::size_t count, const float* __restrict squares,
                     const float* __restrict values, const float* __restrict pulled,
                     float* __restrict gradients) {
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradients[i];
    const float strength = lambda / (std::sqrt(squares[i]) + kEpsilon);
    gradients[i] = g + strength * g * g * (values[i] - pulled[i]);
  }
}

/// Adjacent segments form one part, so that loops are long. Padding is left out: it may
/// contain anything in values, and must stay zero in gradients.
std::vector<Range> compensated_parts(const Layout& layout) {
  std::vector<Range> parts;
  for (const Segment& segment : layout.segments()) {
    if (!segment.trained) continue;
    const Range range = segment.range;
    const bool touches = !parts.empty() && parts.back().end == range.begin;
    if (!touches) parts.push_back({range.begin, range.begin});
    parts.back().end = range.end;
  }
  return parts;
}

/// Calls work(part) for the parts within `chunk`, in order.
template <class Work>
void visit_parts(const std::vector<Range>& parts, Range chunk, const Work& work) {
  auto part = std::ranges::upper_bound(parts, chunk.begin, {}, &Range::end);
  for (; part != parts.end() && part->begin < chunk.end; ++part) {
    work(Range{std::max(part->begin, chunk.begin), std::min(part->end, chunk.end)});
  }
}

}  // namespace

DelayCompensation::DelayCompensation(const Layout& layout,
                                     const CompensationOptions& options, ThreadTeam& team)
    : options_(options), parts_(compensated_parts(layout)), team_(team) {
  check(options.kind != Compensation::none, "the kind of compensation is not none");
  if (options.kind == Compensation::dc_asgd_adaptive) square_.emplace(layout);
}

void DelayCompensation::compensate(Range range, const FlatBuffer& values,
                                   std::span<const float> pulled,
                                   std::span<float> gradients) {
  check(pulled.size() == range.size() && gradients.size() == range.size(),
        "pulled values and gradients have the size of the range");
  run_chunks(team_, range, [&](Range chunk) {
    visit_parts(parts_, chunk, [&](Range part) {
      compensate_part(part.size(),
                      {.values = values.data() + part.begin,
                       .pulled = pulled.data() + (part.begin - range.begin),
                       .gradients = gradients.data() + (part.begin - range.begin),
                       .squares = square_ ? square_->data() + part.begin : nullptr});
    });
  });
}

/// Nothing is added if lambda is zero: adding zero would turn -0 into +0.
void DelayCompensation::compensate_part(std::size_t count, const Place& place) const {
  const auto& [values, pulled, gradients, squares] = place;
  const auto lambda = static_cast<float>(options_.lambda);
  if (squares != nullptr) {
    const auto decay = static_cast<float>(options_.decay);
    const auto rest = static_cast<float>(1 - options_.decay);
    add_to_squares(decay, rest, count, gradients, squares);
    if (lambda != 0) add_adapted_way(lambda, count, squares, values, pulled, gradients);
  } else if (lambda != 0) {
    add_way(lambda, count, values, pulled, gradients);
  }
}

std::vector<OptimizerSlot> DelayCompensation::slots() {
  if (!square_) return {};
  return {{"compensation_sq", *square_}};
}

std::size_t DelayCompensation::bytes(Compensation kind, Range range) {
  return kind == Compensation::dc_asgd_adaptive ? range.size() * sizeof(float) : 0;
}

}  // namespace convoy
