// SPDX-License-Identifier: Apache-2.0
//
// The keys of a run's checkpoints in object storage:
//
//   <prefix>/<run>/checkpoints/<step>/<file>   as in the run's folder, manifest.json last
//   <prefix>/<run>/checkpoints/last.json       {"checkpoint": "00000120", "step": 120}
//   <prefix>/<run>/checkpoints/best.json
//
// A pointer is written after everything that it points to, so a partial upload is never
// taken for a checkpoint.

#pragma once

#include <cstdint>
#include <string>

#include "convoy/s3/location.h"

namespace convoy {

enum class CheckpointRole { last, best };

std::string role_name(CheckpointRole role);  // "last"

/// Whether the text is a valid name of a checkpoint's folder: its step in digits.
bool is_step_name(const std::string& name);

/// `run` is <prefix>/<run>.
S3Location checkpoint_place(const S3Location& run, const std::string& step_name);
S3Location pointer_place(const S3Location& run, CheckpointRole role);

inline constexpr std::size_t kLargestPointer = 4096;  // in bytes

/// The content of a pointer.
std::string pointer_text(const std::string& step_name);

/// Returns the name of the folder that a pointer names. Throws InputError of kind `data`.
std::string pointed_at(std::string_view text, const S3Location& pointer);

}  // namespace convoy
