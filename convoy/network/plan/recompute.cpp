// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/plan/recompute.h"

#include <algorithm>

namespace convoy {
namespace {

/// Decides for one plan.
class Recompute {
 public:
  explicit Recompute(NetworkPlan& plan) : plan_(plan), needed_(plan.activations.size()) {
    for (std::size_t i = 0; i < plan.stages.size(); ++i) {
      const bool is_new = i > 0 && plan.stages[i].unit != plan.stages[i - 1].unit;
      run_.push_back(i == 0 ? 0 : run_.back() + (is_new ? 1 : 0));
    }
  }

  void choose_cheap();
  void choose_units();
  void keep_activations();

 private:
  bool is_worth_recomputing(std::size_t stage) const;
  bool stays_in_unit(ActivationIndex index) const;
  bool is_read_in_backward(ActivationIndex index) const;
  bool is_made_again(ActivationIndex index) const;
  void need_sources(std::size_t stage);
  void keep(ActivationIndex index);
  int last_forward_use(const PlannedActivation& activation) const;
  int last_backward_use(ActivationIndex index) const;
  int last_use_again(const PlannedActivation& activation) const;

  /// The stage that runs right before the backward of the one that reads its result.
  bool is_cheap(ActivationIndex index) const {
    const PlannedActivation& activation = plan_.activations[index];
    return index > 0 && !activation.users.empty() &&
           plan_.stages[activation.users.back()].recomputed == index - 1;
  }

  NetworkPlan& plan_;
  std::vector<std::size_t> run_;  // by stage: stages of one unit in a row have one number
  std::vector<bool> needed_;      // by activation: when the stages of its unit run again
};

/// Finds the stages that run again in backward, right before the stage that reads their
/// result.
void Recompute::choose_cheap() {
  for (std::size_t i = 0; i + 1 < plan_.stages.size(); ++i) {
    if (!is_worth_recomputing(i)) continue;
    plan_.stages[plan_.activations[i + 1].users.back()].recomputed = i;
  }
}

/// Whether a stage's result would be kept for one stage alone, of whose time the stage
/// takes a few percent. Its sources have to be there: its own backward needs them, and
/// they are not computed right before either. If it has parameters, they are of the unit
/// whose backward runs then. A unit that runs again finds what it read first.
bool Recompute::is_worth_recomputing(std::size_t stage) const {
  constexpr std::uint64_t kLeastFlopsPerNumber = 1000;
  const PlannedActivation& dst = plan_.activations[stage + 1];
  if (dst.users.size() != 1) return false;
  const PlannedStage &planned = plan_.stages[stage],
                     &reader = plan_.stages[dst.users.front()];
  if (!planned.stage->is_cheap() || !planned.has_backward) return false;
  const bool values_in_use = planned.parameters.empty() || planned.unit == reader.unit;
  const bool is_kept_for_unit =
      reader.moments.again > 0 && run_[dst.users.front()] != run_[stage];
  if (!values_in_use || is_kept_for_unit || reader.recomputed ||
      reader.sources.size() != 1 || !reader.stage->backward_reads_src(0)) {
    return false;
  }
  const auto kept = [&](const PlannedSource& source) {
    return !is_cheap(source.activation);
  };
  return std::ranges::all_of(planned.sources, kept) &&
         plan_.reports[dst.users.front()].real_flops >=
             kLeastFlopsPerNumber * dst.shape.size();
}

/// Whether only stages of the unit that makes an activation read it, and that unit's
/// stages may run again. A stage that runs right before its reader reads it then, too.
bool Recompute::stays_in_unit(ActivationIndex index) const {
  const std::size_t maker = index == 0 ? 0 : index - 1;
  const std::vector<std::size_t>& users = plan_.activations[index].users;
  return plan_.stages[maker].moments.again > 0 && !users.empty() &&
         std::ranges::all_of(users, [&](std::size_t user) {
           const std::size_t reader =
               is_cheap(user + 1) ? plan_.activations[user + 1].users.back() : user;
           return run_[user] == run_[maker] && run_[reader] == run_[maker];
         });
}

bool Recompute::is_read_in_backward(ActivationIndex index) const {
  return last_backward_use(index) > 0;
}

/// The moment of the last backward that reads an activation; 0 if there is none. What is
/// computed right before its reader's backward is read by that alone.
int Recompute::last_backward_use(ActivationIndex index) const {
  int last = 0;
  if (index > 0) {
    const PlannedStage& maker = plan_.stages[index - 1];
    if (maker.has_backward && maker.stage->backward_reads_dst()) {
      last = maker.moments.backward;
    }
  }
  for (const std::size_t user : plan_.activations[index].users) {
    const PlannedStage& planned = plan_.stages[user];
    if (!planned.has_backward) continue;
    for (std::size_t s = 0; s < planned.sources.size(); ++s) {
      if (planned.sources[s].activation != index) continue;
      if (!planned.stage->backward_reads_src(s)) continue;
      last = std::max(last, planned.moments.backward);
    }
  }
  return last;
}

int Recompute::last_forward_use(const PlannedActivation& activation) const {
  return activation.users.empty() ? plan_.stages.back().moments.forward + 1
                                  : plan_.stages[activation.users.back()].moments.forward;
}

int Recompute::last_use_again(const PlannedActivation& activation) const {
  int last = 0;
  for (const std::size_t user : activation.users) {
    const PlannedStage& planned = plan_.stages[user];
    if (planned.runs_again) last = std::max(last, planned.moments.again);
  }
  return last;
}

/// From the last stage to the first: a stage runs again if its result is dropped and
/// needed, and then needs its sources.
void Recompute::choose_units() {
  for (std::size_t i = plan_.stages.size(); i-- > 0;) {
    PlannedStage& planned = plan_.stages[i];
    if (planned.has_backward && planned.recomputed) need_sources(*planned.recomputed);
    const bool is_dropped = stays_in_unit(i + 1);
    const bool is_read = !is_cheap(i + 1) && is_read_in_backward(i + 1);
    planned.runs_again = is_dropped && (needed_[i + 1] || is_read);
    if (planned.runs_again) need_sources(i);
  }
  plan_.packs_again = stays_in_unit(0) && (needed_[0] || is_read_in_backward(0));
}

void Recompute::need_sources(std::size_t stage) {
  for (const PlannedSource& source : plan_.stages[stage].sources) {
    needed_[source.activation] = true;
  }
}

bool Recompute::is_made_again(ActivationIndex index) const {
  return index == 0 ? plan_.packs_again : plan_.stages[index - 1].runs_again;
}

void Recompute::keep(ActivationIndex index) {
  const PlannedActivation& activation = plan_.activations[index];
  ArenaPlan& arena = plan_.arena;
  arena.extend(activation.values, last_forward_use(activation));
  const int read = last_backward_use(index), again = last_use_again(activation);
  if (is_made_again(index)) {
    const int made = plan_.stages[index == 0 ? 0 : index - 1].moments.again;
    const int last = is_cheap(index) ? again : std::max(again, read);
    arena.revive(activation.values, {made, std::max(made, last)});
  }
  if (is_cheap(index)) {
    arena.revive(activation.values, {read, read});
  } else if (!is_made_again(index) && std::max(read, again) > 0) {
    arena.extend(activation.values, std::max(read, again));
  }
}

void Recompute::keep_activations() {
  for (std::size_t i = 0; i < plan_.activations.size(); ++i) keep(i);
  for (const PlannedStage& planned : plan_.stages) {
    if (!planned.runs_again) continue;
    plan_.arena.repeat(planned.slots, planned.moments.forward, planned.moments.again);
  }
}

/// Whether the stages of a unit may run again. For the last unit that would save nothing:
/// its backward comes at once.
bool may_run_again(const NetworkPlan& plan, std::size_t unit,
                   const NetworkOptions& options) {
  return unit < options.recompute_units && unit != plan.stages.back().unit;
}

}  // namespace

void number_moments(NetworkPlan& plan, const NetworkOptions& options) {
  std::vector<PlannedStage>& stages = plan.stages;
  int moment = 0;
  for (PlannedStage& planned : stages) {
    planned.moments = {.forward = ++moment, .backward = moment};
  }
  if (!options.training) return;
  ++moment;  // the loss
  for (std::size_t end = stages.size(); end > 0;) {
    std::size_t begin = end - 1;
    while (begin > 0 && stages[begin - 1].unit == stages[begin].unit) --begin;
    if (may_run_again(plan, stages[begin].unit, options)) {
      for (std::size_t i = begin; i < end; ++i) stages[i].moments.again = ++moment;
    }
    for (std::size_t i = end; i-- > begin;) stages[i].moments.backward = ++moment;
    end = begin;
  }
}

void plan_kept_activations(NetworkPlan& plan, const NetworkOptions& options) {
  Recompute recompute(plan);
  if (options.training && options.recompute_cheap) recompute.choose_cheap();
  if (options.training) recompute.choose_units();
  recompute.keep_activations();
}

}  // namespace convoy
