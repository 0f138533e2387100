// SPDX-License-Identifier: Apache-2.0
//
// Initial weights from a file: PyTorch's, torchvision's, or those of another run.

#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "convoy/checkpoint/checkpoint.h"

namespace convoy {

/// What became of the tensors, by name; none of it is silent.
struct InitialWeights {
  std::vector<std::string> matched;
  std::vector<std::string> missing;      // not in the file: they keep their first values
  std::vector<std::string> other_shape;  // in the file with another shape: the same
  std::vector<std::string> left_over;    // in the file alone

  /// One line for people, and one more for each kind that is not empty.
  std::string summary() const;
};

/// Fills the parts from a safetensors file, by name. A prefix that wrappers put before
/// every name ("module.", "model.") is left out. Counters of batches are no weights.
/// Throws InputError of kind `data` if the file is damaged or nothing in it matches.
InitialWeights load_initial_weights(const std::filesystem::path& file,
                                    std::initializer_list<LoadedPart> parts);

}  // namespace convoy
