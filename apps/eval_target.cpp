// SPDX-License-Identifier: Apache-2.0

#include "apps/eval_target.h"

#include "convoy/base/error.h"
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

EvaluationSet chosen_set(const Workload& work, const std::string& split) {
  EvaluationSet set = evaluation_set(work, split);
  if (!set.samples.empty()) return set;
  throw InputError(InputKind::settings,
                   {.where = "--split " + split,
                    .found = "no samples",
                    .expected = "a run with a validation set",
                    .hint = "data.val_fraction and data.split make one"});
}

}  // namespace convoy
