// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/sha256.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace convoy {
namespace {

// Known answers of FIPS 180-4's examples.
struct KnownAnswer {
  const char* name;
  std::string message;
  const char* digest;
};

class Sha256Of : public testing::TestWithParam<KnownAnswer> {};

TEST_P(Sha256Of, IsAsPublished) {
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(GetParam().message))), GetParam().digest);
}

TEST_P(Sha256Of, DoesNotDependOnThePieces) {
  const auto bytes = std::as_bytes(std::span(GetParam().message));

  Sha256 digest;
  for (std::size_t i = 0; i < bytes.size(); i += 997) {
    digest.add(bytes.subspan(i, std::min<std::size_t>(997, bytes.size() - i)));
  }

  EXPECT_EQ(digest.hex(), GetParam().digest);
}

INSTANTIATE_TEST_SUITE_P(
    Messages, Sha256Of,
    testing::Values(
        KnownAnswer{"Nothing", "",
                    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        KnownAnswer{"OneBlock", "abc",
                    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        KnownAnswer{"TwoBlocks",
                    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        KnownAnswer{"AMillionLetters", std::string(1'000'000, 'a'),
                    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace convoy
