// SPDX-License-Identifier: Apache-2.0

#include "apps/eval_target.h"

#include "convoy/remote_checkpoints/checkpoint_download.h"
#include "convoy/s3/access.h"
#include "convoy/s3/client.h"

namespace convoy {

EvalTarget::EvalTarget(const std::string& name, const OnDamaged& on_damaged) {
  if (!is_s3_location(name)) {
    checkpoint_ = find_checkpoint(name, on_damaged);
    folder_ = run_of_checkpoint(checkpoint_).value_or(checkpoint_);
    return;
  }
  const S3Location from = S3Location::parse(name, "target");
  S3Client client(find_s3_access(), {});
  download_.emplace();
  checkpoint_ = download_checkpoint(client, from, download_->path());
  folder_ = ".";
}

}  // namespace convoy
