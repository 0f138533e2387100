// SPDX-License-Identifier: Apache-2.0
//
// Weight saves: the parameters and running statistics of a run after some of its updates,
// without anything to resume from, for convoy landscape.
//
//   saves/00000000.safetensors  00000001.safetensors  00000469.safetensors ...
//
// A file is complete under its name or absent. Each has the tensors of a checkpoint's
// model.safetensors, as trained: averages (train.ema, train.swa_start) are not
// saved here.

#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "convoy/checkpoint/checkpoint.h"

namespace convoy {

struct WeightSave {
  std::uint64_t step = 0;  // updates before it
  std::filesystem::path path;
};

/// Returns the saves of a run, the earliest first; none if there is no folder.
std::vector<WeightSave> list_weight_saves(const std::filesystem::path& run);

/// Throws a storage error.
void write_weight_save(const std::filesystem::path& run, std::uint64_t step,
                       const std::vector<SavedPart>& model);

/// Removes the saves after `step`, and what killed processes left. Throws a storage
/// error.
void remove_weight_saves_after(std::uint64_t step, const std::filesystem::path& run);

}  // namespace convoy
