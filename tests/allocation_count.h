// SPDX-License-Identifier: Apache-2.0
//
// How often the test program has allocated so far, in any thread: every operator new
// counts (tests/network/allocation_test.cpp).

#pragma once

namespace convoy {

long allocation_count();

}  // namespace convoy
