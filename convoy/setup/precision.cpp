// SPDX-License-Identifier: Apache-2.0

#include "convoy/setup/precision.h"

#include <fmt/format.h>

namespace convoy {
namespace {

/// As Apex prints the options of a level.
constexpr const char* kApexOptions =
    "enabled                : True\n"
    "opt_level              : O2\n"
    "cast_model_type        : torch.float16\n"
    "patch_torch_functions  : False\n"
    "keep_batchnorm_fp32    : True\n"
    "master_weights         : True\n"
    "loss_scale             : dynamic\n";

std::string apex_lines() {
  return fmt::format(
      "Selected optimization level O2:  FP16 training with FP32 batchnorm and FP32 "
      "master weights.\n\n"
      "Defaults for this optimization level are:\n{0}"
      "Processing user overrides (additional kwargs that are not None)...\n"
      "After processing overrides, optimization options are:\n{0}",
      kApexOptions);
}

}  // namespace

Dtype value_dtype(const Settings& settings) {
  switch (settings.precision.name) {
    case PrecisionChoice::amp_o2:
      return Dtype::fp16;
    case PrecisionChoice::bf16:
      return Dtype::bf16;
    case PrecisionChoice::fp32:
      break;
  }
  return Dtype::fp32;
}

Dtype gradient_dtype(const Settings& settings) {
  switch (settings.ddp.compress) {
    case CompressChoice::fp16:
      return Dtype::fp16;
    case CompressChoice::bf16:
      return Dtype::bf16;
    case CompressChoice::none:
      break;
  }
  return value_dtype(settings);
}

StoredTypes stored_types(const Settings& settings, const Layout& layout) {
  return {layout, value_dtype(settings)};
}

std::optional<LossScaleOptions> loss_scale_options(const Settings& settings) {
  const PrecisionSettings& precision = settings.precision;
  if (precision.name != PrecisionChoice::amp_o2) return {};
  return LossScaleOptions{
      .initial = precision.init_scale,
      .growth_interval = static_cast<std::uint64_t>(precision.growth_interval)};
}

std::string precision_lines(const Settings& settings) {
  if (settings.precision.name == PrecisionChoice::fp32) {
    if (settings.ddp.compress == CompressChoice::none) return "";
    return fmt::format("precision fp32, gradients exchanged in {}\n",
                       name_of(gradient_dtype(settings)));
  }
  const bool is_o2 = settings.precision.name == PrecisionChoice::amp_o2;
  return fmt::format(
      "precision {}: values, activations and gradients {}, norms and masters fp32{}\n{}",
      choice_name(settings.precision.name), name_of(value_dtype(settings)),
      is_o2 ? fmt::format(", loss scale {} at first", settings.precision.init_scale) : "",
      is_o2 ? apex_lines() : "");
}

}  // namespace convoy
