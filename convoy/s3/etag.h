// SPDX-License-Identifier: Apache-2.0
//
// ETag: a server's identifier of an object's content. It is the content's MD5 unless the
// object was uploaded in parts or is encrypted with a key of the server.

#pragma once

#include <string>

#include "convoy/s3/error.h"
#include "convoy/s3/exchange.h"

namespace convoy {

/// Throws damaged_object() if the ETag is an MD5 and differs from that of the content.
void check_etag(const S3Location& object, const S3Answer& answer,
                const std::string& content_md5);

/// Makes an InputError of kind `data`.
InputError damaged_object(const S3Location& object, const std::string& found,
                          const std::string& expected);

/// Makes the error of an answer that no S3 server gives.
S3Error strange_answer(const S3Location& object, const std::string& found);

}  // namespace convoy
