// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/gathered_units.h"

#include <utility>

namespace convoy {
namespace {

std::size_t first_trained_unit(const Layout& layout) {
  std::size_t unit = 0;
  while (unit < layout.unit_count() &&
         layout.trained_in(layout.unit(UnitId{unit})).empty()) {
    ++unit;
  }
  return unit;
}

}  // namespace

GatheredUnits::GatheredUnits(const Layout& layout, ParameterStore store, AsyncComm& comm,
                             const GatherOptions& options)
    : store_(std::move(store)),
      gather_(store_, options.types, comm),
      comm_(comm),
      options_(options),
      units_(layout.unit_count()),
      first_trained_(first_trained_unit(layout)) {
  for (const Segment& segment : layout.segments()) {
    if (segment.shared) at(static_cast<std::size_t>(segment.unit)).shared = true;
  }
}

void GatheredUnits::before_forward(UnitId unit) {
  const auto u = static_cast<std::size_t>(unit);
  start(u);
  if (options_.prefetch && u + 1 < units_.size()) start(u + 1);
  finish(u);
}

/// Backward begins with the last unit, so that one stays.
void GatheredUnits::after_forward(UnitId unit) {
  const auto u = static_cast<std::size_t>(unit);
  const bool is_kept =
      options_.backward && (!options_.reshard_after_forward || u + 1 == units_.size());
  if (!is_kept) release(u);
  if (!options_.backward && u + 1 == units_.size()) release_all();
}

void GatheredUnits::before_backward(UnitId unit) {
  const auto u = static_cast<std::size_t>(unit);
  start(u);
  if (options_.prefetch && u > first_trained_) start(u - 1);
  finish(u);
}

void GatheredUnits::after_backward(UnitId unit) {
  if (options_.reshard_after_forward || pass_.is_last) {
    release(static_cast<std::size_t>(unit));
  }
}

void GatheredUnits::start(std::size_t unit) {
  const UnitId id{unit};
  if (at(unit).arriving || store_.residency(id) == Residency::whole) return;
  store_.prepare(id);
  at(unit).arriving = gather_.start(store_, id);
}

void GatheredUnits::finish(std::size_t unit) {
  if (!at(unit).arriving) return;
  gather_.finish(store_, UnitId{unit}, *at(unit).arriving);
  at(unit).arriving.reset();
  store_.set_whole(UnitId{unit});
}

void GatheredUnits::release(std::size_t unit) {
  if (!at(unit).shared) store_.release(UnitId{unit});
}

void GatheredUnits::gather_all() {
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    at(unit).arriving = gather_.start(store_, UnitId{unit});
    if (unit > 0) finish(unit - 1);
  }
  if (!units_.empty()) finish(units_.size() - 1);
}

void GatheredUnits::release_all() {
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    finish(unit);
    if (store_.residency(UnitId{unit}) == Residency::whole) store_.release(UnitId{unit});
  }
}

}  // namespace convoy
