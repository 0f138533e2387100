// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/file_mark.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convoy/base/sha256.h"
#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

bool is_marked(const FileMark& mark, const std::string& content) {
  return matches(
      mark, content.size(), [&](std::uint64_t offset, std::span<std::byte> bytes) {
        std::ranges::copy(bytes_of(content).subspan(offset, bytes.size()), bytes.begin());
      });
}

FileMark in_ranges(const std::vector<std::string>& ranges) {
  FileMark mark;
  for (const std::string& range : ranges) {
    mark.ranges.push_back({range.size(), sha256_hex(bytes_of(range))});
  }
  return mark;
}

FileMark read_back(const json& entry) {
  const JsonSource source{.where = "manifest.json"};
  return file_mark_from_json(JsonObject(entry, source), source);
}

TEST(FileMark, KnowsAChangeInEveryRange) {
  const std::string large(3'000'000, 'x');  // more than is read at once
  const FileMark mark = in_ranges({"head", large, "end"});
  const std::string content = "head" + large + "end";

  EXPECT_TRUE(is_marked(mark, content));
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{2'500'000}, content.size() - 1}) {
    std::string changed = content;
    changed[at] ^= 1;
    EXPECT_FALSE(is_marked(mark, changed)) << at;
  }
  EXPECT_FALSE(is_marked(mark, content + "x"));
  EXPECT_FALSE(is_marked(mark, content.substr(1)));
}

TEST(FileMark, ReadsWhatItWrites) {
  for (const FileMark& mark : {in_ranges({"one"}), in_ranges({"one", "two", ""})}) {
    EXPECT_EQ(read_back(to_json(mark)), mark);
  }
  EXPECT_EQ(to_json(mark_of(bytes_of("one"))).size(), 2u) << "bytes and sha256 alone";
}

TEST(FileMark, RefusesWhatIsNone) {
  const json good = to_json(in_ranges({"one", "two"}));
  const auto expect_refused = [&](const std::string& word, auto change) {
    json entry = good;
    change(entry);
    expect_error(InputKind::data, {"manifest.json", word}, [&] { read_back(entry); });
  };
  expect_refused("ranges of all bytes", [](json& entry) { entry["bytes"] = 7; });
  expect_refused("bytes", [](json& entry) { entry["bytes"] = 5; });
  expect_refused("a list", [](json& entry) { entry["ranges"] = "one"; });
  expect_refused("ranges", [](json& entry) { entry["ranges"] = json::array(); });
  expect_refused("hexadecimal",
                 [](json& entry) { entry["ranges"][1]["sha256"] = "xyz"; });
  expect_refused("7", [](json& entry) { entry["ranges"][0] = 7; });
  expect_refused("sha256", [](json& entry) { entry.erase("ranges"); });
}

}  // namespace
}  // namespace convoy
