// SPDX-License-Identifier: Apache-2.0
//
// Initial weights from a file: PyTorch's, torchvision's, or those of another run.
//
// A model for another number of classes has a head (its last linear layer) of another
// shape: that keeps its random values, everything else is loaded.

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
  std::vector<std::string> missing;    // not in the file: they keep their random values
  std::vector<std::string> head;       // of other classes in the file: the same
  std::vector<std::string> resized;    // positions of images of another size in the file
  std::vector<std::string> left_over;  // only in the file
  std::size_t classes_in_file = 0;     // if it has another head

  /// Returns one line for people, and one more per list that is not empty.
  std::string summary() const;
};

/// Fills the parts from a safetensors file, or from a run's newest checkpoint, by name.
/// Names are translated by own_name(), position embeddings of images of another size are
/// resized. Batch counters are ignored. Throws InputError of kind `data` if the file is
/// damaged, no tensor matches, or one besides the head has another shape.
InitialWeights load_initial_weights(const std::filesystem::path& from,
                                    std::initializer_list<LoadedPart> parts);

}  // namespace convoy
