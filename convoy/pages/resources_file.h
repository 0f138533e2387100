// SPDX-License-Identifier: Apache-2.0
//
// Reads the curves of resources.csv: CPU, memory and network of every rank, by seconds
// since the first row.

#pragma once

#include <filesystem>

#include "convoy/pages/run_curves.h"

namespace convoy {

/// Adds "cpu/percent" (of one core), "mem/resident_bytes", "net/sent_bytes_per_second"
/// and "net/received_bytes_per_second" per rank. Rows that cannot be read are left out,
/// and so is a file that cannot be read.
void read_resource_curves(const std::filesystem::path& path, RunCurves& curves);

}  // namespace convoy
