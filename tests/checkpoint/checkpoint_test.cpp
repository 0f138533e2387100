// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/checkpoint.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>

#include "convoy/base/sha256.h"
#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/checkpoint/checkpoint_writer.h"
#include "convoy/models/models.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
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
    write(state, filled(seed));
  }

  /// As a run does it: the checkpoint, then the link.
  void write(const CheckpointState& state, const FlatBuffer& values) const {
    const FlatBuffer velocity = filled(state.step + 100);
    point_at(
        save_checkpoint(run.path(), {.state = state,
                                     .model = {{layout, values}},
                                     .optimizer = {{layout, velocity, ".momentum"}},
                                     .config = "# " + std::to_string(state.step) + "\n"}),
        "last");
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
  const CheckpointState state{
      .model = "lenet5",
      .data = "mnist",
      .step = 1234567890123,
      .epoch = 7,
      .samples = 640,
      .evaluated = true,
      .seed = 0xFFFFFFFFFFFFFFFF,
      .microbatches = 3,
      .learning_rate = 1.0 / 3,
      .normalization = {.moments = {{0.1307, 0.3081}}},
      .epoch_sum = {.loss = 0.1 + 0.2, .correct = 3, .samples = 4},
      .best = BestMark{.value = 2.0 / 3, .step = 5, .epoch = 6},
      .course = {.plateau = {.factor = 0.1},
                 .early_stop = {.best = 0.3, .best_epoch = 2, .without_better = 1},
                 .averaged = 7},
      .updates = {{"workers", 2}, {"pushes", {4, 3}}}};
  write(state, filled(3));

  FlatBuffer values(layout), velocity(layout);
  const CheckpointState loaded = load_checkpoint(
      find_checkpoint(run.path()), {{layout, values}}, {{layout, velocity, ".momentum"}});

  EXPECT_EQ(weights_sha256(layout, values), digest(3));
  EXPECT_EQ(weights_sha256(layout, velocity), digest(1234567890123 + 100));
  EXPECT_EQ(to_json(loaded), to_json(state));
}

TEST_F(Checkpoint, GivesBackANormalizationByChannel) {
  const Normalization normalization = {
      .moments = {{0.49, 0.25}, {1.0 / 3, 0.24}, {0.45, 0.26}}};
  CheckpointState state;
  state.normalization = normalization;
  write(state, filled(3));

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

/// What a change does to a file, for a test that tries many.
using Damage = std::function<std::string(std::string)>;

class DamagedCheckpoint : public Checkpoint,
                          public testing::WithParamInterface<const char*> {
 protected:
  void expect_noticed(const Damage& damage, const std::string& what) {
    const fs::path file = checkpoints / "last" / GetParam();
    const std::string whole = read_text(file);
    write_atomically(file, damage(whole));
    expect_error(InputKind::data, {GetParam()},
                 [&] { loaded_digest(checkpoints / "last"); });
    write_atomically(file, whole);
    EXPECT_EQ(loaded_digest(checkpoints / "last"), digest(1)) << what;
  }
};

TEST_P(DamagedCheckpoint, IsRefusedWithAnyByteChanged) {
  save(5, 1);
  const std::size_t size = fs::file_size(checkpoints / "last" / GetParam());
  // Every byte of a small file, many places of a large one.
  const std::size_t stride = std::max<std::size_t>(1, size / 64);
  for (std::size_t at = 0; at < size; at += stride) {
    const char bit = static_cast<char>(1 << (at % 8));
    expect_noticed(
        [&](std::string text) {
          text[at] ^= bit;
          return text;
        },
        std::to_string(at));
  }
}

TEST_P(DamagedCheckpoint, IsRefusedWhenCutOrLonger) {
  save(5, 1);
  expect_noticed([](const std::string& text) { return text.substr(0, text.size() / 2); },
                 "half");
  expect_noticed([](const std::string&) { return ""; }, "nothing");
  expect_noticed([](const std::string& text) { return text + " "; }, "more");
}

TEST_P(DamagedCheckpoint, IsRefusedWithAnothersFile) {
  save(5, 1);
  save(6, 2);
  const std::string others = read_text(checkpoints / "00000006" / GetParam());
  const fs::path file = checkpoints / "00000005" / GetParam();
  write_atomically(file, others);

  EXPECT_THROW(verify_checkpoint(checkpoints / "00000005"), InputError);
}

TEST_P(DamagedCheckpoint, IsRefusedWithoutAFile) {
  save(5, 1);
  fs::remove(checkpoints / "00000005" / GetParam());

  EXPECT_THROW(verify_checkpoint(checkpoints / "00000005"), InputError);
}

INSTANTIATE_TEST_SUITE_P(Files, DamagedCheckpoint,
                         testing::Values("model.safetensors", "optimizer.safetensors",
                                         "state.json", "config.yaml", "manifest.json"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

// ---- manifests that hold for their own digest

class OddManifest : public Checkpoint {
 protected:
  /// Writes `files` into a manifest as save_checkpoint() does.
  void seal(const nlohmann::ordered_json& files) const {
    const std::string text = files.dump(2) + "\n";
    const nlohmann::ordered_json manifest = {
        {"files", files}, {"sha256", sha256_hex(std::as_bytes(std::span(text)))}};
    write_atomically(path, manifest.dump(2) + "\n");
  }

  fs::path path = checkpoints / "00000005" / "manifest.json";
};

TEST_F(OddManifest, IsRefusedByTheFieldsName) {
  save(5, 1);
  const auto files = nlohmann::ordered_json::parse(read_text(path)).at("files");
  for (const char* value : {"null", "-3", "\"x\"", "[]", "{}"}) {
    auto odd = files;
    odd["state.json"] = nlohmann::ordered_json::parse(value);
    seal(odd);
    expect_error(InputKind::data, {path.string(), "state.json"},
                 [&] { verify_checkpoint(path.parent_path()); });
    odd["state.json"] = {{"bytes", nlohmann::ordered_json::parse(value)}, {"sha256", 1}};
    seal(odd);
    expect_error(InputKind::data, {path.string() + ": state.json.bytes"},
                 [&] { verify_checkpoint(path.parent_path()); });
    seal(nlohmann::ordered_json::parse(value));
    expect_error(InputKind::data, {path.string()},
                 [&] { verify_checkpoint(path.parent_path()); });
  }
}

TEST_F(OddManifest, NestedDeeplyIsRefused) {
  save(5, 1);
  const std::string nested = std::string(200'000, '[') + std::string(200'000, ']');
  for (const std::string& text : {nested, R"({"files": )" + nested + "}"}) {
    write_atomically(path, text);
    expect_error(InputKind::data, {path.string(), "64 levels"},
                 [&] { verify_checkpoint(path.parent_path()); });
  }
}

TEST_F(OddManifest, OfAStateNestedDeeplyIsRefused) {
  save(5, 1);
  const fs::path state = path.parent_path() / "state.json";
  auto files = nlohmann::ordered_json::parse(read_text(path)).at("files");
  std::string text = read_text(state);
  const std::string nested = std::string(200'000, '[') + std::string(200'000, ']');
  text.replace(text.rfind("null"), 4, nested);  // of `updates`
  write_atomically(state, text);
  files["state.json"] = {{"bytes", text.size()},
                         {"sha256", sha256_hex(std::as_bytes(std::span(text)))}};
  seal(files);

  expect_error(InputKind::data, {state.string(), "64 levels"},
               [&] { load_state(path.parent_path()); });
}

// ---- which of them

class CheckpointFolder : public Checkpoint {
 protected:
  std::optional<fs::path> newest() {
    return newest_complete_checkpoint(
        run.path(), [&](const std::string& text) { damaged.push_back(text); });
  }

  void damage(const std::string& name) const {
    write_atomically(checkpoints / name / "state.json", "{}");
  }

  std::vector<std::string> damaged;
};

TEST_F(CheckpointFolder, TheNewestWholeOneIsFoundAndDamagedOnesAreNamed) {
  for (const std::uint64_t step : {5, 6, 100'000'000}) save(step, 1);
  damage("100000000");
  damage("00000006");

  EXPECT_EQ(newest(), checkpoints / "00000005");
  EXPECT_THAT(damaged, ElementsAre(HasSubstr("100000000"), HasSubstr("00000006")));
  EXPECT_EQ(find_checkpoint(run.path()).filename(), "00000005");
}

TEST_F(CheckpointFolder, ARenamedOneIsNotTakenForAnother) {
  save(5, 1);
  fs::rename(checkpoints / "00000005", checkpoints / "00000009");

  EXPECT_EQ(newest(), std::nullopt);
  EXPECT_THAT(damaged, ElementsAre(HasSubstr("renamed")));
}

TEST_F(CheckpointFolder, PruningLeavesTheNewestAndTheBest) {
  for (const std::uint64_t step : {1, 2, 3, 4, 5}) save(step, 1);
  point_at(checkpoints / "00000002", "best");
  prune_checkpoints(checkpoints / "00000005", 2);

  EXPECT_THAT(in_checkpoints(),
              UnorderedElementsAre("00000002", "00000004", "00000005", "last", "best"));
}

TEST_F(CheckpointFolder, PruningNeverRemovesTheOneJustWritten) {
  for (const std::uint64_t step : {1, 2, 99}) save(step, 1);
  damage("00000099");  // so that training went on from step 1
  prune_checkpoints(checkpoints / "00000002", 1);

  EXPECT_THAT(in_checkpoints(), UnorderedElementsAre("00000002", "00000099", "last"));
}

TEST_F(CheckpointFolder, PruningRemovesWhatAKilledProcessLeft) {
  save(1, 1);
  make_folders(checkpoints / ".00000002.tmp-0000abcd");
  write_atomically(checkpoints / ".00000002.tmp-0000abcd" / "model.safetensors", "half");
  prune_checkpoints(checkpoints / "00000001", 0);

  EXPECT_THAT(in_checkpoints(), UnorderedElementsAre("00000001", "last"));
}

// ---- in the background

TEST_F(Checkpoint, WrittenInTheBackgroundIsOfTheMomentItWasSaved) {
  FlatBuffer values = filled(1);
  std::vector<std::string> told;
  CheckpointWriter writer(
      run.path(), 0, [&](const fs::path& path, const SaveRequest& order) {
        told.push_back(path.filename().string() + (order.best ? " best" : ""));
      });
  CheckpointState state;
  for (const std::uint64_t seed : {1, 2, 3}) {
    values = filled(seed);
    state.step = seed;
    writer.save({.state = state,
                 .model = {{layout, values}},
                 .optimizer = {{layout, values, ".m"}},
                 .config = "a: 1\n"},
                {.best = seed == 2});
    values = filled(99);
  }
  writer.finish();

  EXPECT_THAT(told, ElementsAre("00000001", "00000002 best", "00000003"));
  for (const std::uint64_t seed : {1, 2, 3}) {
    EXPECT_EQ(loaded_digest(checkpoints / checkpoint_name(seed)), digest(seed));
  }
  EXPECT_EQ(fs::read_symlink(checkpoints / "last"), "00000003");
  EXPECT_EQ(fs::read_symlink(checkpoints / "best"), "00000002");
}

TEST_F(Checkpoint, ThatFailsInTheBackgroundIsToldOnceAndHarmsNoOther) {
  save(5, 1);
  CheckpointWriter writer(run.path(), 0);
  const FlatBuffer values = filled(2);
  CheckpointState state;
  state.step = 6;
  const CheckpointContent content{
      .state = state, .model = {{layout, values}}, .optimizer = {}, .config = ""};
  {
    const FileLimit limit(100'000);
    writer.save(content, {});
    expect_error(InputKind::storage, {"model.safetensors"}, [&] { writer.finish(); });
  }
  EXPECT_NO_THROW(writer.rethrow_failure());
  EXPECT_EQ(find_checkpoint(run.path()).filename(), "00000005");

  writer.save(content, {});
  writer.finish();
  EXPECT_EQ(find_checkpoint(run.path()).filename(), "00000006");
}

}  // namespace
}  // namespace convoy
