// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using OrderedJson = nlohmann::ordered_json;

const JsonSource kFile{.where = "a.json", .expected = "an object", .hint = "again"};

std::string nested(int levels) {
  return std::string(static_cast<std::size_t>(levels), '[') +
         std::string(static_cast<std::size_t>(levels), ']');
}

TEST(ParseJson, KeepsTheOrderOfFields) {
  EXPECT_EQ(parse_json(R"({"b": 1, "a": [true, null]})", kFile).dump(),
            R"({"b":1,"a":[true,null]})");
}

TEST(ParseJson, TakesSixtyFourLevelsAndNoMore) {
  EXPECT_TRUE(parse_json(nested(kMostJsonLevels), kFile).is_array());
  for (const std::string& text :
       {nested(kMostJsonLevels + 1), nested(200'000), std::string(200'000, '['),
        R"({"files": )" + nested(200'000) + "}"}) {
    expect_error(InputKind::data,
                 {"a.json", "JSON nested more than 64 levels deep", "an object", "again"},
                 [&] { parse_json(text, kFile); });
  }
}

TEST(ParseJson, CountsNoBracketsOfStrings) {
  const std::string brackets(1000, '[');

  EXPECT_EQ(parse_json(R"(["\")" + brackets + R"(\\"])", kFile)[0],
            "\"" + brackets + "\\");
}

TEST(ParseJson, SaysWhereATextIsNoJson) {
  expect_error(InputKind::data, {"a.json", "invalid JSON at byte 5"},
               [] { parse_json("[1, x]", kFile); });
  expect_error(InputKind::data, {"invalid JSON at byte 1"},
               [] { parse_json("", kFile); });
  expect_error(InputKind::data, {"invalid JSON at byte 3"},
               [] { parse_json(std::string("[]\0[", 4), kFile); });
  expect_error(InputKind::data, {"a number"}, [] { parse_json("[1e999]", kFile); });
}

TEST(ParseJson, RefusesATextTooLong) {
  expect_error(InputKind::data, {"a.json", "JSON of more than 64.0 MiB"},
               [] { parse_json(std::string(kMostJsonBytes + 1, ' '), kFile); });
}

TEST(JsonText, ReplacesWhatIsNotUtf8) {
  const nlohmann::ordered_json value{{"name", "a\xff"}, {"list", {1, 2}}};
  EXPECT_EQ(json_text(value), "{\"name\":\"a\xEF\xBF\xBD\",\"list\":[1,2]}");
  EXPECT_EQ(json_text({{"a", 1}}, 2), "{\n  \"a\": 1\n}");
}

TEST(JsonObject, GivesFieldsOfTheirTypes) {
  const OrderedJson content = {
      {"text", "a"},    {"flag", true},    {"number", -1.5},        {"whole", 3},
      {"factor", 0.25}, {"none", nullptr}, {"inner", {{"step", 7}}}};
  const JsonObject object(content, kFile);

  EXPECT_EQ(object.text("text"), "a");
  EXPECT_TRUE(object.boolean("flag"));
  EXPECT_EQ(object.number("number"), -1.5);
  EXPECT_EQ(object.number("whole"), 3);
  EXPECT_EQ(object.whole("whole", 1, 3), 3u);
  EXPECT_EQ(object.positive("factor", 1), 0.25);
  EXPECT_EQ(object.object("inner").count("step"), 7);
  EXPECT_TRUE(object.contains("none"));
  EXPECT_FALSE(object.contains("absent"));
}

TEST(JsonObject, RefusesByNameWhatIsOfAnotherType) {
  const OrderedJson content = {
      {"exit", nullptr}, {"epoch", -1.5}, {"in", {{"step", "x"}}}};
  const JsonObject object(content, kFile);

  expect_error(InputKind::data, {"a.json: exit", "null", "an object", "again"},
               [&] { object.object("exit"); });
  expect_error(InputKind::data, {"a.json: epoch", "-1.5", "a whole number from 0 to"},
               [&] { object.count("epoch"); });
  expect_error(InputKind::data, {"a.json: epoch", "-1.5", "a number above 0, at most 1"},
               [&] { object.positive("epoch", 1); });
  expect_error(InputKind::data, {"a.json: in.step", "\"x\"", "a whole number from 0"},
               [&] { object.object("in").whole("step"); });
  expect_error(InputKind::data, {"a.json", "no in.absent"},
               [&] { object.object("in").text("absent"); });
  expect_error(InputKind::data, {"a.json", "[]"},
               [] { JsonObject(OrderedJson::array(), kFile); });
}

}  // namespace
}  // namespace convoy
