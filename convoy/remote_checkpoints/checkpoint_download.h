// SPDX-License-Identifier: Apache-2.0
//
// Downloads a checkpoint from object storage to a local folder, which is complete or
// absent.

#pragma once

#include <filesystem>

#include "convoy/remote_checkpoints/checkpoint_places.h"
#include "convoy/s3/client.h"

namespace convoy {

/// Downloads a checkpoint into the folder `parent`, under the name of its step, replacing
/// one of that name, and returns its path. `from` is one of
///
///   s3://bucket/prefix/run                      the run's last checkpoint
///   s3://bucket/prefix/run/best                 or /last
///   s3://bucket/prefix/run/checkpoints/120      this one (00000120)
///   s3://bucket/prefix[/best]                   if there is a single run below
///
/// Every file's size and SHA-256 are compared with the manifest. Throws S3Error if the
/// server cannot be reached or refuses; InputError of kind `data` if there is no
/// checkpoint, an unfinished upload, or a damaged object. Then `parent` is unchanged.
std::filesystem::path download_checkpoint(S3Client& client, const S3Location& from,
                                          const std::filesystem::path& parent);

}  // namespace convoy
