// SPDX-License-Identifier: Apache-2.0
//
// NumPy's file format, version 1.0, for a matrix of fp64 numbers (numpy.load reads it).

#pragma once

#include <string>
#include <vector>

namespace convoy {

/// Returns the content of a file with these rows. Requires: rows of the same length.
std::string npy_matrix(const std::vector<std::vector<double>>& rows);

}  // namespace convoy
