// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/md5.h"

namespace convoy {

Md5Digest md5(std::span<const std::byte> bytes) {
  Digest digest(DigestKind::md5);
  digest.add(bytes);
  return digest.finish();
}

}  // namespace convoy
