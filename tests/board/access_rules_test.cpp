// SPDX-License-Identifier: Apache-2.0

#include "convoy/board/access_rules.h"

#include <gtest/gtest.h>

namespace convoy {
namespace {

const AccessRules kLoopback{
    .host = "127.0.0.1", .port = 6007, .token = "0123456789abcdef"};
const AccessRules kPublic{.host = "0.0.0.0", .port = 6007, .token = "0123456789abcdef"};

bool is_refused(const AccessRules& rules, const std::string& host,
                const std::optional<std::string>& origin = {}) {
  HttpRequest request{.method = "GET", .path = "/"};
  request.headers["host"] = host;
  if (origin) request.headers["origin"] = *origin;
  return refuse_foreign(request, rules).has_value();
}

TEST(AccessRules, HostIsThisMachine) {
  for (const char* host : {"127.0.0.1:6007", "localhost:6007", "[::1]:6007", "127.0.0.1",
                           "localhost:8080", "127.1.2.3:1"}) {
    EXPECT_FALSE(is_refused(kLoopback, host)) << host;
  }
  for (const char* host : {"", "evil.example", "127.0.0.1.evil.example:6007",
                           "localhost.evil.example", "10.0.0.1:6007", "[::2]", "[", "]",
                           "127.0.0.1,evil.example", "evil.example#127.0.0.1"}) {
    EXPECT_TRUE(is_refused(kLoopback, host)) << host;
  }
}

TEST(AccessRules, WhereOthersReachItHostIsAnAddressOrItsName) {
  EXPECT_FALSE(is_refused(kPublic, "10.0.0.1:6007"));
  EXPECT_FALSE(is_refused({.host = "node7", .token = "x"}, "node7:6007"));
  EXPECT_TRUE(is_refused(kPublic, "evil.example:6007"));
}

TEST(AccessRules, OriginIsThisPlaceOrAbsent) {
  EXPECT_FALSE(is_refused(kLoopback, "127.0.0.1:6007", "http://127.0.0.1:6007"));
  for (const char* origin : {"http://127.0.0.1:6008", "https://127.0.0.1:6007", "null",
                             "", "http://evil.example", "http://localhost:6007"}) {
    EXPECT_TRUE(is_refused(kLoopback, "127.0.0.1:6007", origin)) << origin;
  }
}

TEST(AccessRules, TokenIsNeededWhereOthersReachIt) {
  for (const char* host : {"127.0.0.1", "127.0.0.2", "::1", "localhost"}) {
    EXPECT_FALSE((AccessRules{.host = host}.needs_token())) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "node7", "127.evil.example"}) {
    EXPECT_TRUE((AccessRules{.host = host}.needs_token())) << host;
  }
}

TEST(AccessRules, TokenComesByCookieOrHeader) {
  const auto with = [](const char* name, const std::string& value) {
    HttpRequest request;
    request.headers[name] = value;
    return has_token(request, kLoopback);
  };
  EXPECT_TRUE(with("cookie", "convoy-board-6007=0123456789abcdef"));
  EXPECT_TRUE(with("cookie", "a=1; convoy-board-6007=0123456789abcdef; b=2"));
  EXPECT_TRUE(with("authorization", "Bearer 0123456789abcdef"));
  EXPECT_FALSE(with("cookie", "convoy-board-6008=0123456789abcdef"));
  EXPECT_FALSE(with("cookie", "convoy-board-6007=0123456789abcdeX"));
  EXPECT_FALSE(with("cookie", "convoy-board-6007="));
  EXPECT_FALSE(with("authorization", "Bearer "));
  EXPECT_FALSE(with("authorization", "0123456789abcdef"));
  EXPECT_FALSE(has_token({}, kLoopback));
}

}  // namespace
}  // namespace convoy
