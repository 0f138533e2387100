// SPDX-License-Identifier: Apache-2.0
//
// Settings of a run that is soon over.

#pragma once

#include "convoy/settings/settings.h"

namespace convoy {

/// Two epochs on made-up images; every step is recorded.
inline Settings small_settings(int train_count, int test_count, int batch_size,
                               int threads) {
  Settings settings;
  settings.data.name = "synthetic";
  settings.data.synthetic.train_count = train_count;
  settings.data.synthetic.test_count = test_count;
  settings.train.batch_size = batch_size;
  settings.train.epochs = 2;
  settings.train.log_every = 1;
  settings.cluster.threads = threads;
  return settings;
}

}  // namespace convoy
