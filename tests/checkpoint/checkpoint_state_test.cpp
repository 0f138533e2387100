// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/checkpoint_state.h"

#include <algorithm>

#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// A field of state.json, and what somebody wrote there.
struct Nonsense {
  std::string field;
  OrderedJson value;
};

/// "/course/plateau/factor" of "course.plateau.factor".
OrderedJson::json_pointer pointer_to(std::string field) {
  std::ranges::replace(field, '.', '/');
  return OrderedJson::json_pointer("/" + field);
}

TEST(CheckpointState, WithNonsenseInAFieldIsRefusedByItsName) {
  const OrderedJson half_a_step = 1.5, negative = -1, text = "x", none = nullptr;
  CheckpointState state;
  state.best = BestMark{};
  const OrderedJson good = to_json(state);
  for (const auto& [field, value] :
       std::vector<Nonsense>{{"epoch", -1.5},
                             {"epoch", std::uint64_t{1} << 40},
                             {"step", negative},
                             {"step", half_a_step},
                             {"samples", negative},
                             {"evaluated", 1},
                             {"seed", text},
                             {"lanes", 0},
                             {"learning_rate", none},
                             {"normalization", text},
                             {"normalization.mean", none},
                             {"normalization.deviation", 0},
                             {"epoch_sum.loss", none},
                             {"epoch_sum.correct", negative},
                             {"best", text},
                             {"best.value", none},
                             {"best.epoch", negative},
                             {"course", none},
                             {"course.plateau.factor", 0},
                             {"course.plateau.factor", negative},
                             {"course.plateau.factor", 2},
                             {"course.plateau.best", text},
                             {"course.plateau.cooling", negative},
                             {"course.early_stop.without_better", negative},
                             {"course.averaged", half_a_step},
                             {"model", 1}}) {
    OrderedJson content = good;
    content[pointer_to(field)] = value;
    SCOPED_TRACE(field + " = " + value.dump());
    expect_error(InputKind::data,
                 {"state.json: " + field + "\n", "found:    " + value.dump(),
                  "use another checkpoint"},
                 [&] { state_from_json(content, "state.json"); });
  }
  EXPECT_EQ(to_json(state_from_json(good, "state.json")), good);
}

}  // namespace
}  // namespace convoy
