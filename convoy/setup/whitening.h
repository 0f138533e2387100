// SPDX-License-Identifier: Apache-2.0
//
// Whitening: a first convolution that takes the correlations out of small patches of
// images.
//
// Its filters are the directions in which patches vary most, each scaled to a variance of
// one, and their negatives, so that a ReLU after it loses nothing. They follow from the
// training images alone. A network that starts from them need not learn to see edges
// first; it trains the rest while they stay as they are.

#pragma once

#include <cstdint>

#include "convoy/loader/sample_images.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/layout.h"

namespace convoy {

/// The first convolution: the first segment, if it has a kernel.
/// Throws InputError of kind `settings` if the network does not begin with one.
SegmentId first_convolution(const Layout& layout);

/// Gives the segment, a convolution of the images themselves, its whitening filters.
/// Those beyond twice the numbers in a patch keep their values.
void whiten(SampleImages images, const Layout& layout, SegmentId convolution,
            FlatBuffer& values);

}  // namespace convoy
