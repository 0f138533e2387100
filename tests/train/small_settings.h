// SPDX-License-Identifier: Apache-2.0
//
// Settings of a run that is soon over.

#pragma once

#include <string>

#include "convoy/base/shape.h"
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

/// Made-up images for a model, small ones if it takes them.
inline void set_small_images(const std::string& model, Settings& settings) {
  Shape shape = {1, 28, 28};
  if (model == "vgg11") shape = {3, 32, 32};
  if (model == "resnet18_cifar") shape = {3, 12, 12};
  if (model == "mobilenet_v3_small" || model == "fastnet_small") shape = {3, 16, 16};
  if (model == "vit_cifar") shape = {3, 8, 8};
  settings.data.synthetic.channels = shape.channels;
  settings.data.synthetic.height = shape.height;
  settings.data.synthetic.width = shape.width;
}

}  // namespace convoy
