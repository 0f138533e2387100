// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/checkpoint.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>

#include "convoy/base/file.h"
#include "convoy/base/temporary_folder.h"
#include "convoy/network/models.h"
#include "tests/data/expect_error.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// While it lives no file grows beyond so many bytes, as if the disk were full.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  sighandler_t handler_;
};

class Checkpoint : public testing::Test {
 protected:
  FlatBuffer filled(std::uint64_t seed) const {
    FlatBuffer values(layout);
    initialize(layout, seed, values);
    return values;
  }

  void save(std::uint64_t step, std::uint64_t seed) const {
    CheckpointState state;
    state.step = step;
    save_checkpoint(run.path(), state, {{layout, filled(seed)}});
  }

  std::string loaded_digest(const fs::path& checkpoint) const {
    FlatBuffer values(layout);
    load_checkpoint(checkpoint, {{layout, values}});
    return weights_sha256(layout, values);
  }

  std::string digest(std::uint64_t seed) const {
    return weights_sha256(layout, filled(seed));
  }

  std::vector<std::string> in_checkpoints() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(checkpoints)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  TemporaryFolder run;
  fs::path checkpoints = run.path() / "checkpoints";
  Layout layout = build_layout(make_model("lenet5", {1, 28, 28}, 10));
};

TEST_F(Checkpoint, GivesBackValuesAndState) {
  const CheckpointState state{.model = "lenet5",
                              .data = "mnist",
                              .step = 1234567890123,
                              .epoch = 7,
                              .samples = 640,
                              .seed = 0xFFFFFFFFFFFFFFFF,
                              .normalization = {.moments = {{0.1307, 0.3081}}}};
  save_checkpoint(run.path(), state, {{layout, filled(3)}});

  FlatBuffer values(layout);
  const CheckpointState loaded =
      load_checkpoint(find_checkpoint(run.path()), {{layout, values}});

  EXPECT_EQ(weights_sha256(layout, values), digest(3));
  EXPECT_EQ(loaded.model, state.model);
  EXPECT_EQ(loaded.data, state.data);
  EXPECT_EQ(loaded.step, state.step);
  EXPECT_EQ(loaded.epoch, state.epoch);
  EXPECT_EQ(loaded.samples, state.samples);
  EXPECT_EQ(loaded.seed, state.seed);
  EXPECT_EQ(loaded.normalization, state.normalization);
}

TEST_F(Checkpoint, GivesBackANormalizationByChannel) {
  const Normalization normalization = {
      .moments = {{0.49, 0.25}, {1.0 / 3, 0.24}, {0.45, 0.26}}};
  save_checkpoint(run.path(),
                  {.model = "lenet5", .data = "cifar10", .normalization = normalization},
                  {{layout, filled(3)}});

  EXPECT_EQ(load_state(find_checkpoint(run.path())).normalization, normalization);
}

TEST_F(Checkpoint, LeavesPaddingAlone) {
  save(1, 1);

  FlatBuffer values(layout);
  std::ranges::fill(std::span(values.data(), values.size()), 42.0f);
  load_checkpoint(checkpoints / "last", {{layout, values}});

  const Range unit = layout.unit(UnitId{0});
  const Segment& bias = layout.segments()[1];
  ASSERT_LT(bias.range.end, unit.end) << "conv1 of lenet5 has padding";
  for (const float number : values.view({bias.range.end, unit.end})) {
    EXPECT_EQ(number, 42.0f);
  }
}

TEST_F(Checkpoint, LastPointsAtTheNewest) {
  save(5, 1);
  EXPECT_EQ(fs::read_symlink(checkpoints / "last"), "00000005");
  save(10, 2);

  EXPECT_EQ(fs::read_symlink(checkpoints / "last"), "00000010");
  EXPECT_EQ(loaded_digest(checkpoints / "last"), digest(2));
  EXPECT_EQ(loaded_digest(checkpoints / "00000005"), digest(1));
  EXPECT_THAT(in_checkpoints(), UnorderedElementsAre("00000005", "00000010", "last"));
}

TEST_F(Checkpoint, SavedAgainAtAStepTakesThePlaceOfTheOlder) {
  save(5, 1);
  save(5, 2);

  EXPECT_EQ(loaded_digest(checkpoints / "last"), digest(2));
  EXPECT_THAT(in_checkpoints(), UnorderedElementsAre("00000005", "last"));
}

TEST_F(Checkpoint, ThatCannotBeWrittenLeavesNoFolder) {
  const FileLimit limit(100'000);

  expect_error(InputKind::storage, {"model.safetensors", "File too large"},
               [&] { save(5, 1); });
  EXPECT_THAT(in_checkpoints(), IsEmpty());
}

TEST_F(Checkpoint, ThatCannotBeWrittenLeavesTheOneBefore) {
  save(5, 1);
  {
    const FileLimit limit(100'000);
    expect_error(InputKind::storage, {"model.safetensors"}, [&] { save(5, 2); });
    expect_error(InputKind::storage, {"model.safetensors"}, [&] { save(6, 2); });
  }

  EXPECT_THAT(in_checkpoints(), UnorderedElementsAre("00000005", "last"));
  EXPECT_EQ(loaded_digest(find_checkpoint(run.path())), digest(1));
}

TEST_F(Checkpoint, IsFoundFromTheRunTheLinkAndItsOwnFolder) {
  save(5, 1);

  for (const fs::path& target :
       {run.path(), checkpoints / "last", checkpoints / "00000005"}) {
    EXPECT_EQ(loaded_digest(find_checkpoint(target)), digest(1)) << target;
  }
}

TEST_F(Checkpoint, IsNotFoundWithoutItsManifest) {
  save(5, 1);
  fs::remove(checkpoints / "00000005" / "manifest.json");

  expect_error(InputKind::data, {run.path().string(), "no checkpoint"},
               [&] { find_checkpoint(run.path()); });
  expect_error(InputKind::storage, {"nowhere"},
               [&] { find_checkpoint(run.path() / "nowhere"); });
}

TEST_F(Checkpoint, OfAnotherModelIsRefused) {
  save(5, 1);
  const Layout other = build_layout(make_model("lenet5", {1, 28, 28}, 7));
  FlatBuffer values(other);

  expect_error(InputKind::data, {"tensor fc3.weight", "[10, 84]", "[7, 84]"}, [&] {
    load_checkpoint(checkpoints / "last", {{other, values}});
  });
}

TEST_F(Checkpoint, WithAnyChangedByteIsRefused) {
  save(5, 1);
  const fs::path file = checkpoints / "last" / "model.safetensors";
  const std::string whole = read_text(file);

  for (const std::size_t at : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
    std::string changed = whole;
    changed[at] ^= 1;
    write_atomically(file, changed);
    expect_error(InputKind::data, {file.string(), "SHA-256"},
                 [&] { loaded_digest(checkpoints / "last"); });
  }
  write_atomically(file, whole);
  EXPECT_EQ(loaded_digest(checkpoints / "last"), digest(1));
}

}  // namespace
}  // namespace convoy
