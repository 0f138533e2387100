// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/packed_gather.h"

#include <algorithm>

namespace convoy {

PackedGather::PackedGather(const ParameterStore& store, const StoredTypes* types,
                           AsyncComm& comm)
    : types_(types != nullptr && types->dtype() != Dtype::fp32 ? types : nullptr),
      comm_(comm) {
  if (types_ == nullptr) return;
  for (std::size_t u = 0; u < store.unit_count(); ++u) {
    const Range unit = store.range(UnitId{u});
    PackedUnit& packed = units_.emplace_back();
    for (const Range& part : store.parts(UnitId{u})) {
      const Range numbers{unit.begin + part.begin, unit.begin + part.end};
      const std::size_t words =
          round_up(types_->bytes(numbers), sizeof(float)) / sizeof(float);
      packed.parts.push_back({packed.words, packed.words + words});
      packed.words += words;
    }
    std::vector<float>& memory = packed_[u % 2];
    memory.resize(std::max(memory.size(), packed.words));
  }
}

std::span<float> PackedGather::memory(UnitId unit) {
  const auto u = static_cast<std::size_t>(unit);
  return std::span(packed_[u % 2]).first(units_[u].words);
}

std::byte* PackedGather::place(UnitId unit, std::size_t rank) {
  const Range part = units_[static_cast<std::size_t>(unit)].parts[rank];
  return std::as_writable_bytes(memory(unit).subspan(part.begin)).data();
}

AsyncComm::Ticket PackedGather::start(ParameterStore& store, UnitId unit) {
  if (types_ == nullptr) {
    return comm_.start_all_gather_parts(store.view(unit), store.parts(unit));
  }
  const std::size_t begin = store.range(unit).begin;
  const Range own = store.parts(unit)[static_cast<std::size_t>(store.rank())];
  types_->pack({begin + own.begin, begin + own.end}, store.view(unit).data() + own.begin,
               place(unit, static_cast<std::size_t>(store.rank())));
  return comm_.start_all_gather_parts(memory(unit),
                                      units_[static_cast<std::size_t>(unit)].parts);
}

void PackedGather::finish(ParameterStore& store, UnitId unit, AsyncComm::Ticket ticket) {
  comm_.wait(ticket);
  if (types_ == nullptr) return;
  const std::size_t begin = store.range(unit).begin;
  for (std::size_t rank = 0; rank < store.parts(unit).size(); ++rank) {
    const Range part = store.parts(unit)[rank];
    if (rank == static_cast<std::size_t>(store.rank())) continue;
    types_->unpack({begin + part.begin, begin + part.end}, place(unit, rank),
                   store.view(unit).data() + part.begin);
  }
}

}  // namespace convoy
