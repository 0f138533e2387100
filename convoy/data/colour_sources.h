// SPDX-License-Identifier: Apache-2.0
//
// The datasets of 32 x 32 colour images. They exist in several forms, and `get` converts
// any of them to convoy's format.

#pragma once

#include "convoy/data/source.h"

namespace convoy {

DataSource cifar10();
DataSource cifar100();

/// The training set is the published "train" followed by "extra".
DataSource svhn();

}  // namespace convoy
