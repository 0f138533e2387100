// SPDX-License-Identifier: Apache-2.0
//
// The settings that are one of several names, as enums.
//
// The enumerator is the name: parsing, printing and error messages take it from here. If
// the name is a C++ keyword, the enumerator ends in '_', which is not part of the name; a
// '+' of the name is "_plus_".
//
// A type is called a Choice if a lower module has its own type for it, which `setup`
// makes from the choice. The others are used directly.

#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace convoy {

#define CONVOY_CHOICE(Type, ...)   \
  enum class Type { __VA_ARGS__ }; \
  constexpr std::string_view enumerators(Type) { return #__VA_ARGS__; }

CONVOY_CHOICE(PartitionChoice, iid, shared, labels, labels_unscaled)
CONVOY_CHOICE(FoldChoice, order, shuffled, stratified)
CONVOY_CHOICE(NormalizeChoice, all, channel, fixed)
CONVOY_CHOICE(PixelChoice, uint8, float32)
CONVOY_CHOICE(AugmentChoice, none, crop_flip, crop_alternate, imagenet, imagenet_crop,
              imagenet_strong)
CONVOY_CHOICE(DecodeChoice, exact, fast)
CONVOY_CHOICE(CorruptChoice, refuse, skip)
CONVOY_CHOICE(ConsoleStyle, bar, imagenet)
CONVOY_CHOICE(RecomputeChoice, none, units, auto_)  // NOLINT: auto
CONVOY_CHOICE(OptimizerChoice, sgd, adam, adamw)
CONVOY_CHOICE(ScheduleChoice, constant, step, exponential, cosine, linear, onecycle,
              plateau)
CONVOY_CHOICE(AnnealChoice, cos, linear)
CONVOY_CHOICE(PrecisionChoice, fp32, amp_o2, bf16)
CONVOY_CHOICE(CompressChoice, none, fp16, bf16)
CONVOY_CHOICE(StrategyChoice, auto_, single, gather_scatter, all_reduce,  // NOLINT: auto
              ddp, fsdp, ps_sync, ps_async)
CONVOY_CHOICE(ShardChoice, optimizer, gradients, all)
CONVOY_CHOICE(Compensation, none, dc_asgd, dc_asgd_adaptive)
CONVOY_CHOICE(DelayKind, constant, gaussian, pareto, on_off)
CONVOY_CHOICE(ComputeKind, constant, gaussian, lognormal)
CONVOY_CHOICE(KernelsChoice, auto_, avx512, avx2, neon, reference,  // NOLINT: auto
              avx512_plus_bf16, reference_plus_bf16, avx512_plus_amx, reference_plus_amx)
CONVOY_CHOICE(WinogradChoice, f4, f2, off)
CONVOY_CHOICE(BestMetric, accuracy, loss)

#undef CONVOY_CHOICE

/// A name that a value had before, which still works.
struct OldName {
  std::string_view old, now;
};
constexpr OldName old_name(...) { return {}; }  // of most choices none
constexpr OldName old_name(KernelsChoice) { return {"fast", "auto"}; }

template <class T>
concept Choice = std::is_enum_v<T> && requires(T choice) {
  { enumerators(choice) } -> std::same_as<std::string_view>;
};

/// Parses "auto_, single" into the names auto and single.
std::vector<std::string> names_of_enumerators(std::string_view enumerators);

/// All names, in the order of the enumerators.
template <Choice T>
const std::vector<std::string>& choice_names() {
  static const std::vector<std::string> names = names_of_enumerators(enumerators(T{}));
  return names;
}

/// The name as people write it: "ps_async".
template <Choice T>
const std::string& choice_name(T choice) {
  return choice_names<T>().at(static_cast<std::size_t>(choice));
}

/// The choice with that name, if there is one.
template <Choice T>
std::optional<T> find_choice(std::string_view name) {
  const std::vector<std::string>& names = choice_names<T>();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<T>(found - names.begin());
}

}  // namespace convoy
