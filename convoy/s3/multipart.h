// SPDX-License-Identifier: Apache-2.0
//
// Multipart: a large file goes up in parts, each of which can be sent again on its own.
// The object is there after the last request, whole, or not at all.

#pragma once

#include "convoy/s3/source_file.h"
#include "convoy/s3/transport.h"

namespace convoy {

/// Throws S3Error. When it fails or is cancelled the parts are given up at the server,
/// which takes at most two seconds.
void put_in_parts(S3Transport& transport, const S3Location& object,
                  const SourceFile& file, const Deadline& deadline);

}  // namespace convoy
