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
//                      manifest.json          marks of the other files (FileMark), and
//                                             its own SHA-256; written last
//
// Values that are trained in 16 bits are F16 or BF16 tensors of the model's file, and
// their masters are in the optimizer's: "fc.weight.master".
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
#include "convoy/params/shard_plan.h"
#include "convoy/params/stored_types.h"
#include "convoy/system/file.h"

namespace convoy {

/// A buffer with the layout that names its tensors: "<segment><suffix>".
struct SavedPart {
  const Layout& layout;
  const FlatBuffer& numbers;
  std::string suffix{};
  bool only_trained = false;  // frozen segments have none, as of an optimizer's state
  /// How the numbers are divided over the ranks; nullptr: everything is here.
  const ShardPlan* plan = nullptr;
  /// Makes units whole, if they are divided: told before a unit is read and after, as by
  /// a forward pass. Borrowed.
  PassListener* units = nullptr;
  const StoredTypes* types = nullptr;  // in which it is written; nullptr: fp32. Borrowed
};
struct LoadedPart {
  const Layout& layout;
  FlatBuffer& numbers;
  std::string suffix{};
  bool only_trained = false;
  bool optional = false;  // numbers of tensors that the file does not have stay
  const StoredTypes* types = nullptr;  // in which it is saved
};

struct CheckpointContent {
  CheckpointState state;
  std::vector<SavedPart> model;      // parameters and running statistics, as evaluated
  std::vector<SavedPart> optimizer;  // everything else that is needed to resume
  std::string config;                // the run's settings
};

/// "00000120"
std::string checkpoint_name(std::uint64_t step);

/// A checkpoint that is being written, under a temporary name. Without complete(),
/// nothing is left of it.
class CheckpointDraft {
 public:
  /// Throws a storage error, as the methods do.
  CheckpointDraft(const std::filesystem::path& run, std::uint64_t step);

  /// Where the files of tensors belong.
  const std::filesystem::path& folder() const { return folder_.path(); }

  /// Writes the other files and gives the checkpoint its name. Returns its folder.
  std::filesystem::path complete(const CheckpointContent& content, const FileMark& model,
                                 const FileMark& optimizer);

 private:
  std::filesystem::path path_;
  AtomicFolder folder_;
};

inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kOptimizerFile = "optimizer.safetensors";

/// Writes both files of tensors and completes the draft. Returns the checkpoint's folder.
/// Throws a storage error.
std::filesystem::path write_checkpoint(CheckpointDraft& draft,
                                       const CheckpointContent& content);

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

/// The tensors that a file with these parts has, in its order.
struct PartTensor {
  const SavedPart& part;
  const Segment& segment;

  TensorView view() const {
    return {segment.name + part.suffix, segment.shape, part.numbers.view(segment.range),
            part.types != nullptr ? part.types->of(segment) : Dtype::fp32};
  }
};
std::vector<PartTensor> tensors_of(const std::vector<SavedPart>& parts);

/// What ranks do that write nothing while the first one saves these parts: has their
/// units made whole, in the same order.
void walk_units(const std::vector<SavedPart>& parts);

/// Fills the parts from a safetensors file, which must contain every segment with its
/// shape. Other tensors in the file are ignored (PyTorch stores a batch counter).
void load_values(const std::filesystem::path& file, const std::vector<LoadedPart>& parts);

inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kConfigFile = "config.yaml";

}  // namespace convoy
