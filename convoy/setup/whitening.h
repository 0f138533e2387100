// SPDX-License-Identifier: Apache-2.0
//
// Whitening: a first convolution that decorrelates small patches of images.
//
// Its filters are the directions in which patches vary most, each scaled to a variance of
// one, and their negatives, so that a following ReLU loses nothing. They follow from the
// training images alone and are not trained; the network need not learn edge filters
// first.

#pragma once

#include <cstdint>

#include "convoy/loader/sample_images.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/layout.h"

namespace convoy {

/// Returns the first convolution: the first segment, if it has a kernel. Throws
/// InputError of kind `settings` if the network does not begin with a convolution.
SegmentId first_convolution(const Layout& layout);

/// Sets the whitening filters of the segment, a convolution of the images themselves.
/// Filters beyond twice the numbers in a patch keep their values.
void whiten(SampleImages images, const Layout& layout, SegmentId convolution,
            FlatBuffer& values);

}  // namespace convoy
