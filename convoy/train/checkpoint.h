// SPDX-License-Identifier: Apache-2.0
//
// Checkpoint: a trained network on disk, whole or absent.
//
//   checkpoints/<step>/model.safetensors   every parameter and running statistic, under
//                                          PyTorch's names
//                      state.json          where training stood
//                      manifest.json       sizes and SHA-256 of the others, written last
//   checkpoints/last -> <step>
//
// A folder gets its name only when everything in it is on disk. Tensors are known by name
// and shape, never by rank or offset.

#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>

#include "convoy/loader/normalization.h"
#include "convoy/params/flat_buffer.h"

namespace convoy {

struct CheckpointState {
  std::string model, data;  // their names
  std::uint64_t step = 0;
  int epoch = 0;              // the one it is in, from 1
  std::uint64_t samples = 0;  // consumed in that epoch
  std::uint64_t seed = 0;
  Normalization normalization;
};

/// Numbers with the layout that names them: parameters, running statistics.
struct SavedPart {
  const Layout& layout;
  const FlatBuffer& numbers;
};
struct LoadedPart {
  const Layout& layout;
  FlatBuffer& numbers;
};

/// Writes checkpoints/<step> and points `last` at it. Throws a storage error.
void save_checkpoint(const std::filesystem::path& run, const CheckpointState& state,
                     std::initializer_list<SavedPart> parts);

/// A checkpoint folder from what a person named: a run's folder (its last one), a
/// checkpoint's own, or a link to it. Throws InputError if there is none.
std::filesystem::path find_checkpoint(const std::filesystem::path& target);

/// Compares every file with the manifest, then reads the state. Throws as below.
CheckpointState load_state(const std::filesystem::path& checkpoint);

/// As load_state, and fills the parts. Throws InputError of kind
/// `data`, naming the file and tensor, if anything is damaged, missing or does not fit.
CheckpointState load_checkpoint(const std::filesystem::path& checkpoint,
                                std::initializer_list<LoadedPart> parts);

/// Fills the parts from a safetensors file: every segment must be there with its shape.
/// Other tensors in the file do not matter (PyTorch counts batches in one).
void load_values(const std::filesystem::path& file,
                 std::initializer_list<LoadedPart> parts);

}  // namespace convoy
