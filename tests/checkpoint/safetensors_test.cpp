// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string little_endian(std::uint64_t value) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string file_of(const std::string& header, std::size_t data_bytes) {
  return little_endian(header.size()) + header + std::string(data_bytes, '\0');
}

/// A header's entry: entry("a", "F32", "[2]", "[0,8]").
std::string entry(const std::string& name, const std::string& dtype,
                  const std::string& shape, const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

/// A header of one entry.
std::string only(const std::string& name, const std::string& dtype,
                 const std::string& shape, const std::string& offsets) {
  return "{" + entry(name, dtype, shape, offsets) + "}";
}

class SafetensorsTest : public ::testing::Test {
 protected:
  SafetensorsFile read(const std::string& content) {
    std::ofstream(path(), std::ios::binary) << content;
    return SafetensorsFile::read(path());
  }

  /// The message with which the file is refused as bad data.
  std::string refusal(const std::string& content) {
    try {
      read(content);
    } catch (const InputError& error) {
      EXPECT_EQ(error.kind(), InputKind::data);
      EXPECT_THAT(error.what(), HasSubstr(path().string() + ": "));
      return error.what();
    }
    return "(taken)";
  }

  std::string refusal_of_header(const std::string& header, std::size_t data_bytes = 8) {
    return refusal(file_of(header, data_bytes));
  }

  std::filesystem::path path() const { return folder_.path() / "model.safetensors"; }

 private:
  TemporaryFolder folder_;
};

using Safetensors = SafetensorsTest;
using HostileSafetensors = SafetensorsTest;

TEST_F(Safetensors, ComeBackAsTheyWereWritten) {
  const std::vector<float> weight = {1, -2, 3.5f, 4, 5, 6}, scalar = {0.25f};
  const TensorView tensors[] = {
      {"z.weight", {2, 3}, weight}, {"a.scale", {}, scalar}, {"empty", {0, 4}, {}}};

  write_safetensors(path(), tensors, {{"step", "17"}});
  const SafetensorsFile file = SafetensorsFile::read(path());

  EXPECT_THAT(file.names(), ElementsAre("z.weight", "a.scale", "empty"));
  EXPECT_THAT(file.shape("z.weight"), ElementsAre(2, 3));
  EXPECT_THAT(file.shape("a.scale"), ElementsAre());
  EXPECT_THAT(file.shape("empty"), ElementsAre(0, 4));
  EXPECT_EQ(file.values("z.weight"), weight);
  EXPECT_EQ(file.values("a.scale"), scalar);
  EXPECT_THAT(file.values("empty"), ElementsAre());
  EXPECT_EQ(file.metadata().at("step"), "17");
  EXPECT_EQ(file.metadata().at("format"), "pt");
}

TEST_F(Safetensors, ComeBackIn16Bits) {
  const std::vector<float> numbers = {1, -2, 0.25f, 65504, 0, 5.9604645e-8f};
  const std::vector<float> wide = {1, -2, 3.3895314e38f};
  const TensorView tensors[] = {{"half", {2, 3}, numbers, Dtype::fp16},
                                {"brain", {3}, wide, Dtype::bf16}};

  write_safetensors(path(), tensors);
  const SafetensorsFile file = SafetensorsFile::read(path());

  EXPECT_EQ(file.tensor("half").dtype, "F16");
  EXPECT_EQ(file.tensor("brain").dtype, "BF16");
  EXPECT_EQ(file.tensor("brain").bytes, (Range{12, 18}));
  EXPECT_EQ(file.values("half"), numbers);
  EXPECT_EQ(file.values("brain"), wide);
}

TEST_F(Safetensors, HaveTheBytesTheFormatAsksFor) {
  const std::vector<float> values = {1.0f, 2.0f};
  const TensorView tensor{"a", {2}, values};

  write_safetensors(path(), std::span(&tensor, 1));

  const std::string header = R"({"__metadata__":{"format":"pt"},)"
                             R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  const std::string data("\0\0\x80\x3F\0\0\0\x40", 8);
  EXPECT_EQ(read_text(path()), little_endian(padded.size()) + padded + data);
}

TEST_F(Safetensors, MayHoldNothing) {
  write_safetensors(path(), {});

  EXPECT_TRUE(SafetensorsFile::read(path()).names().empty());
  EXPECT_TRUE(read(file_of("{}", 0)).names().empty());
}

TEST_F(Safetensors, KeepTheFormatTheCallerNames) {
  write_safetensors(path(), {}, {{"format", "np"}});

  EXPECT_EQ(SafetensorsFile::read(path()).metadata().at("format"), "np");
}

TEST_F(Safetensors, AreReadWhateverTheOrderOfTheirBytes) {
  const std::string header = "{" + entry("late", "F32", "[1]", "[4,8]") + "," +
                             entry("early", "F32", "[1]", "[0,4]") + "}";
  std::string content = file_of(header, 8);
  const float early = 3.0f;
  std::memcpy(content.data() + content.size() - 8, &early, sizeof(early));

  EXPECT_THAT(read(content).values("early"), ElementsAre(3.0f));
  EXPECT_THAT(read(content).values("late"), ElementsAre(0.0f));
}

TEST_F(Safetensors, AreReadWhereNoFloatCouldStand) {
  const std::string header = "{" + entry("odd", "U8", "[1]", "[0,1]") + "," +
                             entry("a", "F32", "[1]", "[1,5]") + "}";
  std::string content = file_of(header, 5);
  const float value = -7.5f;
  std::memcpy(content.data() + content.size() - 4, &value, sizeof(value));

  EXPECT_THAT(read(content).values("a"), ElementsAre(-7.5f));
}

TEST_F(Safetensors, ListTensorsOfOtherDtypesButDoNotReadThem) {
  const SafetensorsFile file =
      read(file_of(only("bn.num_batches_tracked", "I64", "[]", "[0,8]"), 8));

  EXPECT_EQ(file.tensor("bn.num_batches_tracked").dtype, "I64");
  try {
    file.values("bn.num_batches_tracked");
    FAIL() << "an I64 tensor was read as floats";
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), InputKind::data);
    EXPECT_EQ(error.what(),
              path().string() +
                  ": tensor bn.num_batches_tracked\n"
                  "  found:    dtype I64\n"
                  "  expected: dtype F32, F16 or BF16\n"
                  "  hint:     convert the tensor to 32-bit floating point");
  }
}

TEST_F(Safetensors, NameTheNearestWhenATensorIsMissing) {
  const SafetensorsFile file = read(file_of(only("fc.weight", "F32", "[1]", "[0,4]"), 4));

  EXPECT_FALSE(file.contains("fc.weigth"));
  try {
    file.values("fc.weigth");
    FAIL() << "a missing tensor was found";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("tensor fc.weigth"));
    EXPECT_THAT(error.what(), HasSubstr("nearest name: fc.weight"));
  }
}

TEST_F(Safetensors, AreNotCopiedToMemoryOfAnotherSize) {
  const SafetensorsFile file = read(file_of(only("a", "F32", "[1,2]", "[0,8]"), 8));
  std::vector<float> two(2), three(3);

  file.copy_values("a", two);
  EXPECT_THROW(file.copy_values("a", three), InputError);
}

TEST_F(Safetensors, AreAStorageErrorIfTheFileCannotBeRead) {
  for (const std::filesystem::path& bad : {path() / "absent", path().parent_path()}) {
    try {
      SafetensorsFile::read(bad);
      FAIL() << "read " << bad;
    } catch (const InputError& error) {
      EXPECT_EQ(error.kind(), InputKind::storage);
      EXPECT_THAT(error.what(), HasSubstr(bad.string()));
    }
  }
}

TEST_F(Safetensors, AreAStorageErrorIfTheFileCannotBeWritten) {
  try {
    write_safetensors("/dev/null/model.safetensors", {});
    FAIL() << "wrote below /dev/null";
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), InputKind::storage);
  }
}

TEST_F(HostileSafetensors, ShorterThanTheLengthAreRefused) {
  EXPECT_THAT(refusal(""), HasSubstr("a file of 0 bytes"));
  EXPECT_THAT(refusal("1234567"), HasSubstr(": header\n  found:    a file of 7 bytes"));
}

TEST_F(HostileSafetensors, WithAHeaderLongerThanTheFileAreRefused) {
  EXPECT_THAT(refusal(little_endian(3) + "{}"), HasSubstr("a header of 3 bytes"));
  EXPECT_THAT(refusal(little_endian(~0ull) + "{}"), HasSubstr("18446744073709551615"));
}

TEST_F(HostileSafetensors, WithAHeaderBeyondTheLimitAreRefused) {
  std::ofstream(path(), std::ios::binary) << little_endian(100'000'001);
  std::filesystem::resize_file(path(), 200'000'000);  // sparse: takes no space
  try {
    SafetensorsFile::read(path());
    FAIL() << "a header of more than 100 MB was taken";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("at most 100000000"));
  }
}

TEST_F(HostileSafetensors, TruncatedInTheDataAreRefused) {
  EXPECT_THAT(refusal_of_header(only("a", "F32", "[4]", "[0,16]"), 15),
              HasSubstr("tensor a\n  found:    data_offsets [0, 16], beyond"));
}

TEST_F(HostileSafetensors, TruncatedAnywhereAreRefused) {
  const std::string whole = file_of(only("a", "F32", "[2]", "[0,8]"), 8);

  EXPECT_EQ(refusal(whole), "(taken)");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(refusal(whole.substr(0, length)), "(taken)") << "cut to " << length;
  }
}

TEST_F(HostileSafetensors, ThatAreNotJsonAreRefused) {
  for (const char* header : {"", "PK\x03\x04", "[]", "17", "{", "{\"a\"", "{}x",
                             "{\"a\":}", " {}", "nan", "{'a':1}", "{}{}"}) {
    EXPECT_THAT(refusal_of_header(header, 0), HasSubstr(": header\n")) << header;
  }
}

TEST_F(HostileSafetensors, WithAZeroByteInTheHeaderAreRefused) {
  EXPECT_THAT(refusal_of_header(std::string("{}\0hidden", 9), 0), HasSubstr("header"));
}

TEST_F(HostileSafetensors, WithHugeNestingAreRefused) {
  const int depth = 1'000'000;
  std::string lists(depth, '['), objects;
  for (int i = 0; i < depth; ++i) objects += "{\"a\":";

  EXPECT_THAT(refusal_of_header(lists), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal_of_header(objects), HasSubstr("a field a"));
  EXPECT_THAT(refusal_of_header("{\"a\":" + lists), HasSubstr("a list"));
  EXPECT_THAT(refusal_of_header("{\"a\":{\"shape\":" + lists), HasSubstr("a list"));
}

TEST_F(HostileSafetensors, WithNamesThatAreNotUtf8AreRefused) {
  EXPECT_THAT(refusal_of_header(only("\xC3\x28", "F32", "[2]", "[0,8]")),
              HasSubstr("no valid JSON at byte 4"));
}

TEST_F(HostileSafetensors, WithANameTwiceAreRefused) {
  const std::string a = entry("a", "F32", "[1]", "[0,4]");
  const std::string again = entry("a", "F32", "[1]", "[4,8]");

  EXPECT_THAT(refusal_of_header("{" + a + "," + again + "}"),
              HasSubstr("tensor a\n  found:    the name twice"));
}

TEST_F(HostileSafetensors, WithAFieldTwiceAreRefused) {
  EXPECT_THAT(refusal_of_header(R"({"a":{"dtype":"F32","dtype":"F32"}})"),
              HasSubstr("dtype twice"));
  EXPECT_THAT(refusal_of_header(R"({"__metadata__":{"k":"1","k":"2"}})", 0),
              HasSubstr("the key k twice"));
  EXPECT_THAT(refusal_of_header(R"({"__metadata__":{},"__metadata__":{}})", 0),
              HasSubstr("the name twice"));
}

TEST_F(HostileSafetensors, WithFieldsMissingOrUnknownAreRefused) {
  EXPECT_THAT(refusal_of_header(R"({"a":{}})"), HasSubstr("no fields"));
  EXPECT_THAT(refusal_of_header(R"({"a":{"dtype":"F32","shape":[2]}})"),
              HasSubstr("only dtype, shape"));
  EXPECT_THAT(refusal_of_header(R"({"a":{"stride":[2]}})"), HasSubstr("a field stride"));
}

TEST_F(HostileSafetensors, WithValuesOfTheWrongTypeAreRefused) {
  for (const char* header : {R"({"a":null})",
                             R"({"a":true})",
                             R"({"a":1})",
                             R"({"a":"F32"})",
                             R"({"a":[1]})",
                             R"({"a":{"dtype":4}})",
                             R"({"a":{"dtype":["F32"]}})",
                             R"({"a":{"shape":"2"}})",
                             R"({"a":{"shape":{"x":2}}})",
                             R"({"a":{"shape":[[2]]}})",
                             R"({"a":{"shape":[-1]}})",
                             R"({"a":{"shape":[1.5]}})",
                             R"({"a":{"shape":[1e2]}})",
                             R"({"a":{"shape":[null]}})",
                             R"({"a":{"shape":[18446744073709551616]}})",
                             R"({"a":{"data_offsets":[0]}})",
                             R"({"a":{"data_offsets":[0,4,8]}})",
                             R"({"a":{"data_offsets":[0,-4]}})",
                             R"({"__metadata__":{"k":1}})",
                             R"({"__metadata__":{"k":{}}})",
                             R"({"__metadata__":[]})"}) {
    EXPECT_THAT(refusal_of_header(header), HasSubstr(": tensor ")) << header;
  }
}

TEST_F(HostileSafetensors, OfAnUnknownDtypeAreRefused) {
  EXPECT_THAT(refusal_of_header(only("a", "F31", "[2]", "[0,8]")),
              HasSubstr("tensor a\n  found:    dtype F31"));
}

TEST_F(HostileSafetensors, WithASizeThatDoesNotFitShapeAndDtypeAreRefused) {
  EXPECT_THAT(refusal_of_header(only("a", "F32", "[3]", "[0,8]")),
              HasSubstr("expected: 12 bytes for F32 [3]"));
  EXPECT_THAT(refusal_of_header(only("a", "F16", "[2]", "[0,8]")),
              HasSubstr("expected: 4 bytes for F16 [2]"));
  EXPECT_THAT(refusal_of_header(only("a", "F32", "[]", "[0,8]")),
              HasSubstr("expected: 4 bytes for F32 []"));
}

TEST_F(HostileSafetensors, WithAShapeWhoseProductOverflowsAreRefused) {
  const std::string two_to_32 = "4294967296";
  EXPECT_THAT(refusal_of_header(
                  only("a", "F32", "[" + two_to_32 + "," + two_to_32 + "]", "[0,0]"), 0),
              HasSubstr("a size below 2^64 bytes"));
  EXPECT_THAT(refusal_of_header(only("a", "F32", "[4611686018427387904]", "[0,0]"), 0),
              HasSubstr("a size below 2^64 bytes"));
}

TEST_F(HostileSafetensors, WithTooManyDimensionsAreRefused) {
  std::string ones = "1";
  for (int i = 0; i < 64; ++i) ones += ",1";

  EXPECT_THAT(refusal_of_header(only("a", "F32", "[" + ones + "]", "[0,4]")),
              HasSubstr("more than 64 numbers in shape"));
}

TEST_F(HostileSafetensors, WithOffsetsOutOfRangeAreRefused) {
  EXPECT_THAT(refusal_of_header(only("a", "F32", "[2]", "[8,16]")),
              HasSubstr("[8, 16], beyond the file"));
  EXPECT_THAT(refusal_of_header(
                  only("a", "F32", "[2]", "[18446744073709551608,18446744073709551615]")),
              HasSubstr("expected: 8 bytes"));
}

TEST_F(HostileSafetensors, WithOffsetsThatRunBackwardsAreRefused) {
  EXPECT_THAT(refusal_of_header(only("a", "F32", "[2]", "[8,0]")),
              HasSubstr("data_offsets [8, 0]"));
}

TEST_F(HostileSafetensors, WithTensorsThatOverlapAreRefused) {
  const std::string a = entry("a", "F32", "[2]", "[0,8]");

  for (const char* other : {"[0,8]", "[4,12]"}) {
    EXPECT_THAT(
        refusal_of_header("{" + a + "," + entry("b", "F32", "[2]", other) + "}", 12),
        HasSubstr("an overlap"));
  }
  EXPECT_THAT(
      refusal_of_header("{" + a + "," + entry("none", "F32", "[0]", "[4,4]") + "}", 8),
      HasSubstr("tensor none\n  found:    data_offsets [4, 4], an overlap"));
}

TEST_F(HostileSafetensors, WithAHoleAreRefused) {
  const std::string b = entry("b", "F32", "[1]", "[8,12]");

  EXPECT_THAT(
      refusal_of_header("{" + entry("a", "F32", "[1]", "[0,4]") + "," + b + "}", 12),
      HasSubstr("tensor b\n  found:    data_offsets [8, 12], after a gap"));
  EXPECT_THAT(refusal_of_header("{" + b + "}", 12), HasSubstr("a begin of 0"));
}

TEST_F(HostileSafetensors, WithTrailingBytesAreRefused) {
  EXPECT_THAT(refusal_of_header(only("a", "F32", "[1]", "[0,4]"), 5),
              HasSubstr(": end\n  found:    1 bytes in no tensor"));
  EXPECT_THAT(refusal_of_header("{}", 3), HasSubstr("3 bytes in no tensor"));
}

TEST_F(HostileSafetensors, CannotPutControlCharactersOrFloodsInTheMessage) {
  const std::string message = refusal_of_header(
      only("\\u001b[2J\\n" + std::string(10'000, 'x'), "F99", "[1]", "[0,4]"));

  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_LT(message.size(), 1000u);
}

}  // namespace
}  // namespace convoy
