// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/printable.h"

#include <gtest/gtest.h>

namespace convoy {
namespace {

TEST(Printable, HasNothingThatATerminalTakesForACommand) {
  EXPECT_EQ(printable("a\tb\n"), "a\tb\n");
  EXPECT_EQ(printable("\x1b[31mred\r\x07\x7f"), "?[31mred???");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "??2J")
      << "a control character of two bytes";
}

TEST(Printable, LeavesUtf8AsItIs) {
  const std::string text = "Z\u00fcrich \u20ac \U0001f600 \u00a0";

  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("\xff\xe2\x82"), "???") << "no UTF-8";
  EXPECT_EQ(printable("\xe2\x82z"), "??z");
}

TEST(WithoutPassword, IsTheAddressAllTheSame) {
  EXPECT_EQ(without_password("http://me:SECRET@host:80/a?b#c"),
            "http://me:***@host:80/a?b#c");
  EXPECT_EQ(without_password("reading https://me:SE@CRET@host/x"),
            "reading https://me:***@host/x");
  EXPECT_EQ(without_password("http://me:SE/CRET@host/x"), "http://me:***@host/x");
  EXPECT_EQ(without_password("https://TOKEN@host/x"), "https://***@host/x");
  for (const char* plain :
       {"http://host:8080/@scope/x", "http://host/a:b@c", "/data/a:b@c", ""}) {
    EXPECT_EQ(without_password(plain), plain);
  }
}

}  // namespace
}  // namespace convoy
