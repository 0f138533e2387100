// SPDX-License-Identifier: Apache-2.0
//
// Checkpoint: a snapshot of the training state on disk, complete or absent.
//
//   checkpoints/<step>/model.safetensors      every parameter and running statistic, as
//                                             evaluated, under PyTorch's names
//                      optimizer.safetensors  what else is needed to resume:
//                                             "fc.weight.momentum_buffer" ...
//                      state.json             the position in the run, and other state
//                      config.yaml            the run's settings
//                      manifest.json          sizes and SHA-256 of the other files, and
//                                             of itself; written last
//
// A folder gets its name only when everything in it is on disk. Tensors are identified by
// name and shape, never by rank or offset.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convoy/checkpoint/checkpoint_state.h"
#include "convoy/checkpoint/safetensors.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/pass_listener.h"

namespace convoy {

/// A buffer with the layout that names its tensors: "<segment><suffix>".
struct SavedPart {
  const Layout& layout;
  const FlatBuffer& numbers;
  std::string suffix{};
  bool only_trained = false;  // frozen segments have none, as of an optimizer's state
  /// Makes units whole, if this rank has parts of them: told before a unit is read and
  /// after, as by a forward pass. Borrowed; nullptr: everything is here.
  PassListener* units = nullptr;
};
struct LoadedPart {
  const Layout& layout;
  FlatBuffer& numbers;
  std::string suffix{};
  bool only_trained = false;
};

struct CheckpointContent {
  CheckpointState state;
  std::vector<SavedPart> model;      // parameters and running statistics, as evaluated
  std::vector<SavedPart> optimizer;  // everything else that is needed to resume
  std::string config;                // the run's settings
};

/// "00000120"
std::string checkpoint_name(std::uint64_t step);

/// Writes checkpoints/<step> of the run and returns its folder. Throws a storage error.
std::filesystem::path save_checkpoint(const std::filesystem::path& run,
                                      const CheckpointContent& content);

/// Compares every file with the manifest. Throws InputError of kind `data`, naming the
/// file, if anything is damaged, missing or swapped.
void verify_checkpoint(const std::filesystem::path& checkpoint);

/// Verifies the checkpoint, then reads its state. Throws as verify_checkpoint().
CheckpointState load_state(const std::filesystem::path& checkpoint);

/// As load_state(), and fills the parts from the model's file and, if there are any, from
/// the optimizer's file. Throws InputError of kind `data`, naming file and tensor, if a
/// tensor is missing or has another shape.
CheckpointState load_checkpoint(const std::filesystem::path& checkpoint,
                                const std::vector<LoadedPart>& model,
                                const std::vector<LoadedPart>& optimizer = {});

/// Reads only the tensors of a checkpoint that has been verified. Throws as
/// load_checkpoint().
void load_numbers(const std::filesystem::path& checkpoint,
                  const std::vector<LoadedPart>& model,
                  const std::vector<LoadedPart>& optimizer);

/// Writes the parts to a safetensors file, which is complete or absent. Throws a storage
/// error.
FileMark save_values(const std::filesystem::path& file,
                     const std::vector<SavedPart>& parts);

/// What ranks do that write nothing while the first one saves these parts: has their
/// units made whole, in the same order.
void walk_units(const std::vector<SavedPart>& parts);

/// Fills the parts from a safetensors file, which must contain every segment with its
/// shape. Other tensors in the file are ignored (PyTorch stores a batch counter).
void load_values(const std::filesystem::path& file, const std::vector<LoadedPart>& parts);

inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kConfigFile = "config.yaml";

}  // namespace convoy
