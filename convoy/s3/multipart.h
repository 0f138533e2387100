// SPDX-License-Identifier: Apache-2.0
//
// Multipart: uploads a large file in parts, each of which can be retried on its own. The
// object appears with the last request, complete.

#pragma once

#include "convoy/s3/source_file.h"
#include "convoy/s3/transport.h"

namespace convoy {

/// Throws S3Error. If it fails or is cancelled, the parts are aborted at the server,
/// which takes at most two seconds.
void put_in_parts(S3Transport& transport, const S3Location& object,
                  const SourceFile& file, const Deadline& deadline);

}  // namespace convoy
