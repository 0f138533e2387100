// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "convoy/system/child_process.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "test_places.h"

namespace convoy {
namespace {

using testing::HasSubstr;

/// What tools/code_metrics.py says of an engine of one file.
ProcessResult metrics_of(const std::string& source) {
  const TemporaryFolder root;
  std::filesystem::create_directories(root.path() / "convoy" / "part");
  write_atomically(root.path() / "convoy" / "part" / "thing.h", source);
  return run_process({CONVOY_SOURCE_DIR "/tools/code_metrics.py", "--root", root.path()});
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(CodeMetrics, AcceptsWhatIsWithinItsLimits) {
  const ProcessResult result =
      metrics_of("class Small { public: virtual int a() const = 0; int b_, c_ = 2; };\n");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("convoy/part 1"));
}

TEST(CodeMetrics, NamesAnInterfaceWithSevenVirtualMethods) {
  const ProcessResult result =
      metrics_of("class Large {\n public:\n  virtual ~Large() = default;\n" +
                 repeated("  virtual void f(int a, int b) = 0;\n", 7) +
                 "  void g() override;\n};\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("Large 7   EXCEEDED"));
}

TEST(CodeMetrics, NamesAClassWithSixteenMembersAndNoPlainStruct) {
  const std::string members = repeated("  std::map<int, int> a_{1, 2}, b_;\n", 8);
  const ProcessResult result = metrics_of("class Wide {\n  void f();\n" + members +
                                          "};\nstruct Plain {\n" + members + "};\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("Wide 16   EXCEEDED"));
}

TEST(CodeMetrics, NamesAFunctionOfMoreThanSixtyLines) {
  const auto function = [](int statements) {
    return "inline int run(const char* text = \"{\") {\n" +
           repeated("  if (text) { ++text; }\n", statements) + "  return 0;\n}\n";
  };
  EXPECT_EQ(metrics_of(function(57)).exit_code, 0);
  EXPECT_THAT(metrics_of(function(58)).output, HasSubstr("run 61   EXCEEDED"));
}

}  // namespace
}  // namespace convoy
