// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/tar/tar_reader.h"

#include "convoy/data/tar/brace_pattern.h"
#include "convoy/data/tar/shard_index.h"
#include "tests/base/expect_error.h"
#include "tests/data/tar_files.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(BracePattern, StandsForNamesAsAShellReadsIt) {
  EXPECT_THAT(expand_braces("a.tar", "x"), ElementsAre("a.tar"));
  EXPECT_THAT(expand_braces("t-{08..11}.tar", "x"),
              ElementsAre("t-08.tar", "t-09.tar", "t-10.tar", "t-11.tar"));
  EXPECT_THAT(expand_braces("{9..11}", "x"), ElementsAre("9", "10", "11"));
  EXPECT_THAT(expand_braces("{a,b}{0..1}", "x"), ElementsAre("a0", "a1", "b0", "b1"));
  EXPECT_EQ(expand_braces("{00000..99999}", "x").size(), 100'000u);
  EXPECT_THAT(expand_braces("{4294967295..4294967295}", "x"), ElementsAre("4294967295"));
}

TEST(BracePattern, IsRefusedIfItIsNotClosed) {
  for (const std::string pattern :
       {"{0..9", "0..9}", "{{0..1}}", "{a{0..1}}", "{2..1}", "{a..b}", "{0..100000}",
        "{0..999}{0..999}", "{..}"}) {
    expect_error(InputKind::settings, {"data.train\n  found:    " + pattern},
                 [&] { expand_braces(pattern, "data.train"); });
  }
}

class TarFile : public testing::Test {
 protected:
  fs::path write(const std::string& content) const {
    write_atomically(folder.path() / "a.tar", content);
    return folder.path() / "a.tar";
  }

  std::vector<std::string> names_in(const fs::path& path) const {
    const auto shard = open_local_shard(path);
    TarReader reader(*shard);
    std::vector<std::string> names;
    while (const auto member = reader.next()) names.push_back(member->name);
    return names;
  }

  std::vector<std::string> names_in_text(const std::string& content) const {
    return names_in(write(content));
  }

  void expect_refused(const std::string& content,
                      std::initializer_list<std::string> parts,
                      InputKind kind = InputKind::data) const {
    const fs::path path = write(content);
    expect_error(kind, parts, [&] { ShardIndex(*open_local_shard(path), ""); });
  }

  const TemporaryFolder folder;
};

TEST_F(TarFile, HasTheMembersOfTheSystemsTarInEveryFormat) {
  const std::string longer = std::string(90, 'd') + "/" + std::string(120, 'n') + ".jpg";
  make_folders(folder.path() / std::string(90, 'd'));
  write_atomically(folder.path() / longer, "image");
  write_atomically(folder.path() / "b.cls", "7");
  for (const std::string format : {"gnu", "pax", "posix"}) {
    const fs::path tar = folder.path() / (format + ".tar");
    system_tar(tar, folder.path(), {"b.cls", std::string(90, 'd')}, "--format=" + format);
    EXPECT_THAT(names_in(tar), ElementsAre("b.cls", longer)) << format;
  }
  const std::string fits = std::string(90, 'd') + "/" + std::string(60, 'n') + ".jpg";
  write_atomically(folder.path() / fits, "image");
  system_tar(folder.path() / "ustar.tar", folder.path(), {fits}, "--format=ustar");
  EXPECT_THAT(names_in(folder.path() / "ustar.tar"), ElementsAre(fits));
}

TEST_F(TarFile, SaysWhereAMembersContentIs) {
  const fs::path path =
      write(tar_member("x", "abc") + tar_member("y", "12345") + kTarEnd);
  const auto shard = open_local_shard(path);
  TarReader reader(*shard);
  const auto x = reader.next(), y = reader.next();

  EXPECT_EQ(x->offset, 512u);
  EXPECT_EQ(reader.content(*x), "abc");
  EXPECT_EQ(y->offset, 1536u);
  EXPECT_EQ(reader.content(*y), "12345");
  EXPECT_FALSE(reader.next());
}

TEST_F(TarFile, MayHaveNothingInIt) { EXPECT_THAT(names_in_text(kTarEnd), IsEmpty()); }

TEST_F(TarFile, IsRefusedIfItIsCutOff) {
  const std::string whole =
      tar_member("x.cls", "1") + tar_member("x.jpg", "image") + kTarEnd;
  expect_refused("", {"a.tar\n  found:    the end of the file at byte 0\n",
                      "expected: a whole tar, with blocks of zeros at its end"});
  expect_refused(whole.substr(0, 1024),
                 {"the end of the file at byte 1,024, after x.cls\n"});
  expect_refused(whole.substr(0, 1100), {"the end of the file at byte 1,024"});
  expect_refused(whole.substr(0, 1538),
                 {"a.tar: x.jpg\n  found:    the end of the file, within 5 bytes"});
}

TEST_F(TarFile, MayEndWithOneBlockOfZerosOrMany) {
  for (const std::size_t zeros : {512, 1024, 10240, 1 << 20}) {
    EXPECT_THAT(names_in_text(tar_member("x", "1") + std::string(zeros, '\0')),
                ElementsAre("x"))
        << zeros;
  }
}

TEST_F(TarFile, IsRefusedIfAnythingFollowsItsEnd) {
  std::string zeroed = tar_member("x.cls", "1") + tar_member("x.jpg", "image") + kTarEnd;
  std::fill_n(zeroed.begin() + 1024, 512, '\0');
  expect_refused(zeroed, {"a.tar\n  found:    blocks of zeros, and more behind them at "
                          "byte 1,536, after x.cls\n",
                          "expected: zeros up to the end of a tar"});
  // Further from there than the window.
  expect_refused(tar_member("x.cls", "1") + std::string(9000, '\0') + "x",
                 {"more behind them at byte 10,024"});
}

TEST_F(TarFile, IsRefusedIfItsDownloadWasInterrupted) {
  expect_refused(
      tar_member("x.cls", "1") + std::string((1 << 20) + 1, '\0'),
      {"a.tar\n  found:    more than 1,048,576 zeros at byte 1,024, after x.cls\n",
       "expected: no more than that at the end of a tar"});
}

TEST_F(TarFile, IsRefusedIfAHeaderIsDamaged) {
  std::string damaged = tar_member("x.cls", "1") + tar_member("x.jpg", "image") + kTarEnd;
  damaged[1030] ^= 1;
  expect_refused(damaged, {"a.tar\n",
                           "no header of a member (its checksum is wrong) at "
                           "byte 1,024, after x.cls"});
  expect_refused("not a tar" + std::string(1000, ' '), {"its checksum is wrong"});
}

TEST_F(TarFile, IsRefusedIfAMemberIsALinkOrSparse) {
  expect_refused(tar_member("l", "", '2') + kTarEnd,
                 {"a.tar: l\n  found:    a member of type 2", "files and folders"});
  expect_refused(tar_member("PaxHeaders/x", "22 GNU.sparse.major=1\n", 'x') +
                     tar_member("x.jpg", "i") + kTarEnd,
                 {"found:    a sparse file at byte 0"});
}

TEST_F(TarFile, IsRefusedIfItsHeadersHaveNoEnd) {
  std::string many;
  for (int i = 0; i < 20; ++i) many += tar_member("L", "name", 'L');
  expect_refused(many + kTarEnd, {"many headers in a row without a member"});
  expect_refused(tar_header("L", 1 << 20, 'L') + std::string(2 << 20, 'n'),
                 {"a long name or pax header of 1,048,576 bytes"});
  for (const std::string records :
       {"5 a=b\n", "x", "99 path=a\n", "0 a=b\n", "7 a=bcd"}) {
    expect_refused(tar_member("x", records, 'x') + kTarEnd, {"damaged pax records"});
  }
  expect_refused(
      tar_member("x", "17 size=99999999\n", 'x') + tar_member("x.jpg", "i") + kTarEnd,
      {"a pax size of 99999999"});
  for (const std::string size : {"nan", "inf", "-0", "1e0", "1.", "1 "}) {
    const std::string record = fmt::format("{} size={}\n", 9 + size.size(), size);
    expect_refused(tar_member("x", record, 'x') + tar_member("x.jpg", "i") + kTarEnd,
                   {"a pax size of " + size});
  }
}

TEST_F(TarFile, IsIndexedBySample) {
  const fs::path path =
      write(tar_member("a/0.jpg", "one") + tar_member("a/0.cls", "3\n") +
            tar_member("a/0.json", "{}") + tar_member("README", "text") +
            tar_member("1.cls", "12") + tar_member("1.PNG", "three") +
            tar_member("._1.jpg", "of a Mac") + kTarEnd);
  const ShardIndex index(*open_local_shard(path), "");

  ASSERT_EQ(index.size(), 2u);
  EXPECT_EQ(index.name(0), "a/0.jpg");
  EXPECT_EQ(index.record(0).offset, 512u);
  EXPECT_EQ(index.record(0).bytes, 3u);
  EXPECT_EQ(index.record(0).label, 3);
  EXPECT_EQ(index.name(1), "1.PNG");
  EXPECT_EQ(index.record(1).bytes, 5u);
  EXPECT_EQ(index.record(1).label, 12);
}

TEST_F(TarFile, IsRefusedIfASampleIsNotWhole) {
  const std::string good = tar_member("0.jpg", "i") + tar_member("0.cls", "0");
  expect_refused(kTarEnd, {"a.tar\n  found:    no images"});
  expect_refused(good + tar_member("1.jpg", "i") + kTarEnd,
                 {"a.tar: 1.jpg\n  found:    an image without a label",
                  "expected: its label in 1.cls, next to it"});
  expect_refused(tar_member("1.cls", "1") + good + kTarEnd,
                 {"a.tar: 1.cls\n  found:    a label without an image"});
  expect_refused(tar_member("0.png", "i") + good + kTarEnd,
                 {"a.tar: 0.jpg\n  found:    a second image of the sample"});
  expect_refused(good + tar_member("0.cls", "1") + kTarEnd,
                 {"a.tar: 0.cls\n  found:    a second label of the sample"});
  expect_refused(
      good + tar_member("1.cls", "1") + tar_member("1.jpg", "i") + good + kTarEnd,
      {"a.tar: 0.jpg\n  found:    a second sample of the same key"});
}

TEST_F(TarFile, IsRefusedIfALabelIsNoNumber) {
  for (const std::string label :
       {"", "cat", "-1", "1.5", "1048576", "99999999999", "1 2"}) {
    expect_refused(tar_member("0.jpg", "i") + tar_member("0.cls", label) + kTarEnd,
                   {"a.tar: 0.cls\n  found:    the label '" + label + "'",
                    "a whole number from 0 and below 1,048,576"});
  }
  expect_refused(tar_member("0.cls", std::string(100, '1')) + kTarEnd,
                 {"found:    the label 'a long text'"});
}

TEST_F(TarFile, KeepsItsIndexUntilItChanges) {
  const fs::path cache = folder.path() / "cache";
  const std::string end = tar_member("0.jpg", "i") + tar_member("0.cls", "4") + kTarEnd;
  const fs::path path = write(end);
  const auto time = fs::last_write_time(path);
  const ShardIndex first(*open_local_shard(path), cache);

  // Of the same size and time: only the index can still have the old label.
  write(tar_member("0.jpg", "i") + tar_member("0.cls", "5") + kTarEnd);
  fs::last_write_time(path, time);
  EXPECT_EQ(ShardIndex(*open_local_shard(path), cache).record(0).label, 4);
  fs::last_write_time(path, time - std::chrono::seconds(1));
  EXPECT_EQ(ShardIndex(*open_local_shard(path), cache).record(0).label, 5);
}

TEST_F(TarFile, IsReadAgainIfItsIndexIsDamaged) {
  const fs::path cache = folder.path() / "cache";
  const fs::path path =
      write(tar_member("0.jpg", "i") + tar_member("0.cls", "4") + kTarEnd);
  const ShardIndex first(*open_local_shard(path), cache);
  const fs::path file = fs::directory_iterator(cache)->path();
  const std::string whole = read_text(file);
  std::string far = whole;
  far[4096 + 5] = 1;  // an offset beyond the shard
  for (const std::string& content :
       {std::string(), whole.substr(0, whole.size() - 1), whole.substr(0, 4100), far,
        "{}" + whole, std::string(5000, '[')}) {
    write_atomically(file, content);
    const ShardIndex again(*open_local_shard(path), cache);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again.name(0), "0.jpg");
    EXPECT_EQ(again.record(0).offset, 512u);
  }
}

}  // namespace
}  // namespace convoy
