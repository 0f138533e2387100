// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/piecewise_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "convoy/models/models.h"
#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

/// Values of all segments, and state of those that are trained.
class PiecewiseFileTest : public testing::Test {
 protected:
  PiecewiseFileTest() {
    layout.freeze(std::vector{SegmentId{2}});
    initialize(layout, 7, values);
    initialize(layout, 8, state);
  }

  std::vector<SavedPart> parts(const ShardPlan* plan) const {
    return {{layout, values, "", /*only_trained=*/false, plan},
            {layout, state, ".momentum", /*only_trained=*/true, plan}};
  }

  /// As the ranks of the plan write it, the last one first.
  FileMark write(const PiecewiseFile& file, const fs::path& path, int ranks) const {
    file.create(path);
    std::vector<std::byte> digests;
    for (int rank = ranks - 1; rank >= 0; --rank) {
      const std::vector<std::byte> own = file.write_pieces(path, rank);
      EXPECT_EQ(own.size(), file.digest_bytes(rank));
      digests.insert(digests.begin(), own.begin(), own.end());
    }
    return file.mark(digests);
  }

  Layout layout = build_layout(make_model("lenet5", {1, 28, 28}, 10));
  FlatBuffer values{layout}, state{layout};
  TemporaryFolder here;
};

TEST_F(PiecewiseFileTest, IsTheFileOfOneRank) {
  save_values(here.path() / "one", parts(nullptr));
  const std::string expected = read_text(here.path() / "one");
  for (const int ranks : {1, 2, 3, 8}) {
    const ShardPlan plan(layout, ranks, /*granule=*/100);
    const fs::path path = here.path() / std::to_string(ranks);

    const FileMark mark = write(PiecewiseFile(parts(&plan)), path, ranks);

    EXPECT_EQ(read_text(path), expected) << ranks;
    EXPECT_TRUE(matches(
        mark, expected.size(), [&](std::uint64_t offset, std::span<std::byte> bytes) {
          std::ranges::copy(
              std::as_bytes(std::span(expected)).subspan(offset, bytes.size()),
              bytes.begin());
        }));
    EXPECT_GE(mark.ranges.size(), static_cast<std::size_t>(ranks) + 1) << "and the head";
  }
}

TEST_F(PiecewiseFileTest, IsNotWrittenWithoutTheFirstRanksFile) {
  const ShardPlan plan(layout, 2, 100);
  const fs::path path = here.path() / "absent";
  expect_error(InputKind::storage, {path.string()},
               [&] { PiecewiseFile(parts(&plan)).write_pieces(path, 1); });
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(PiecewiseFileTest, IsNotNeededByARankWithoutPieces) {
  const ShardPlan plan(layout, /*ranks=*/8, /*granule=*/layout.size());
  const PiecewiseFile file(parts(&plan));
  int rank = 0;
  while (rank < 8 && file.digest_bytes(rank) > 0) ++rank;

  ASSERT_LT(rank, 8);
  EXPECT_TRUE(file.write_pieces(here.path() / "renamed by the others", rank).empty());
}

}  // namespace
}  // namespace convoy
