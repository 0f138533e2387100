// SPDX-License-Identifier: Apache-2.0
//
// expect_error: that something throws an InputError of a kind, and what it says.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "convoy/base/error.h"

namespace convoy {

/// Expects that `act` throws InputError of `kind` whose text has every one of `parts`.
template <class Act>
void expect_error(InputKind kind, std::initializer_list<std::string> parts,
                  const Act& act) {
  try {
    act();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    for (const std::string& part : parts) {
      EXPECT_THAT(error.what(), testing::HasSubstr(part));
    }
  }
}

}  // namespace convoy
