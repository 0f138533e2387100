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

/// Which tensors were loaded and which were not, by name.
struct InitialWeights {
  std::vector<std::string> matched;
  std::vector<std::string> missing;      // not in the file: they keep their random values
  std::vector<std::string> other_shape;  // in the file with another shape: the same
  std::vector<std::string> left_over;    // only in the file

  /// Returns one line for people, and one more per list that is not empty.
  std::string summary() const;
};

/// Fills the parts from a safetensors file, by name. Prefixes that wrappers put before
/// every name ("module.", "model.") are removed. Batch counters are ignored. Throws
/// InputError of kind `data` if the file is damaged or no tensor matches.
InitialWeights load_initial_weights(const std::filesystem::path& file,
                                    std::initializer_list<LoadedPart> parts);

}  // namespace convoy
