// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/confusion_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace convoy {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What is wrong with a document as XML, or "". Knows what our pictures use: elements
/// with quoted attributes, text, the five entities.
std::string xml_fault(std::string_view xml) {
  std::vector<std::string> open;
  while (!xml.empty()) {
    if (xml[0] == '<') {
      const std::size_t end = xml.find('>');
      if (end == std::string_view::npos) return "an element without an end";
      const std::string_view element = xml.substr(1, end - 1);
      const std::string name(element.substr(0, element.find_first_of(" \n")));
      if (name.starts_with("/")) {
        if (open.empty() || open.back() != name.substr(1)) return "unmatched " + name;
        open.pop_back();
      } else if (!element.ends_with("/")) {
        open.push_back(name);
      }
      if (element.find('<') != std::string_view::npos) return "< in an element";
      xml.remove_prefix(end + 1);
    } else if (xml[0] == '&') {
      const std::string_view entity = xml.substr(0, xml.find(';') + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" &&
          entity != "&quot;" && entity != "&#39;") {
        return "an unknown entity";
      }
      xml.remove_prefix(entity.size());
    } else {
      xml.remove_prefix(1);
    }
  }
  return open.empty() ? "" : "no end of " + open.back();
}

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++count;
  return count;
}

ConfusionMatrix matrix_of(int classes) {
  std::vector<std::string> names;
  for (int i = 0; i < classes; ++i) names.push_back("class-" + std::to_string(i));
  ConfusionMatrix matrix(names);
  for (int i = 0; i < classes; ++i) matrix.add(i, i, 90), matrix.add(i, 0, 10);
  return matrix;
}

TEST(ConfusionPicture, IsWellFormedAtEverySize) {
  for (const int classes : {0, 1, 2, 10, 30, 31, 100}) {
    EXPECT_EQ(xml_fault(confusion_svg(matrix_of(classes), "test")), "") << classes;
  }
}

TEST(ConfusionPicture, EscapesNamesAndTitle) {
  ConfusionMatrix matrix({"<b>&\"'", "]]>", "\x01\xFF"});
  matrix.add(0, 1);

  const std::string svg = confusion_svg(matrix, "</svg><script>\x02");

  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;&amp;&quot;&#39;"));
  EXPECT_THAT(svg, HasSubstr("]]&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, Not(HasSubstr("\x01")));
  EXPECT_THAT(svg, Not(HasSubstr("\x02")));
}

TEST(ConfusionPicture, ShowsNamesOnBothAxesAndCountsInCells) {
  const std::string svg = confusion_svg(matrix_of(10), "LeNet-5 on MNIST");

  EXPECT_THAT(svg, HasSubstr(">LeNet-5 on MNIST<"));
  EXPECT_EQ(occurrences(svg, ">class-7</text>"), 2u);
  EXPECT_EQ(occurrences(svg, ">90</text>"), 9u);
  EXPECT_EQ(occurrences(svg, ">100</text>"),
            1u);  // class 0: right and the others' errors
  EXPECT_THAT(svg, HasSubstr("class-7 taken for class-0: 10 of 100 (10.0 %)"));
}

TEST(ConfusionPicture, LeavesCountsOutWhereTheyCouldNotBeRead) {
  EXPECT_EQ(occurrences(confusion_svg(matrix_of(100), "many"), ">90</text>"), 0u);
}

TEST(ConfusionPicture, CutsLongNames) {
  const std::string name(500, 'x');

  const std::string svg = confusion_svg(ConfusionMatrix({name}), "long");

  EXPECT_THAT(svg, HasSubstr(">" + name.substr(0, 24) + "…</text>"));
}

}  // namespace
}  // namespace convoy
