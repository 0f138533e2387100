// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints up to a server and down again.

#include "convoy/checkpoint/checkpoint.h"
#include "convoy/models/models.h"
#include "convoy/remote_checkpoints/checkpoint_download.h"
#include "convoy/remote_checkpoints/checkpoint_upload.h"
#include "convoy/system/file.h"
#include "tests/base/expect_error.h"
#include "tests/remote_checkpoints/stored_checkpoint.h"
#include "tests/s3/failing_proxy.h"
#include "tests/s3/s3_server.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using Kind = ProxyFault::Kind;

class S3CheckpointTest : public testing::Test {
 protected:
  std::uint64_t upload(const fs::path& checkpoint,
                       CheckpointRole role = CheckpointRole::last,
                       const std::string& run_name = "run") {
    return upload_checkpoint(client, prefix / run_name, open_checkpoint(checkpoint),
                             role);
  }

  fs::path download(const S3Location& from) {
    return download_checkpoint(client, from, folder.path() / "down");
  }

  bool has(const std::string& name) const {
    return server.has("p/run/checkpoints/" + name);
  }

  /// s3rver overlooks folders that hold nothing but folders. S3 does not.
  void show_to_list(const std::string& run_name) {
    client.put_bytes(prefix / run_name / "note", {});
  }

  void expect_nothing_down() const {
    const fs::path down = folder.path() / "down";
    if (!fs::exists(down)) return;
    EXPECT_TRUE(fs::is_empty(down)) << "half a checkpoint is left";
  }

  TemporaryFolder folder;
  const fs::path run = folder.path() / "run";
  S3Server server;
  FailingProxy proxy{server.port()};
  S3Client client{access_at(proxy.port()), quick()};
  const S3Location prefix{kBucket, "p"};
};

TEST_F(S3CheckpointTest, IsTheSameWhenItComesBack) {
  const fs::path checkpoint = make_checkpoint(run, 120, 20000000);
  EXPECT_GT(upload(checkpoint), 20000000u);
  const fs::path back = download(prefix / "run");
  EXPECT_EQ(back, folder.path() / "down" / "00000120");
  EXPECT_TRUE(contents_of(back) == contents_of(checkpoint));
}

TEST_F(S3CheckpointTest, OfATrainingRunCanBeLoadedWhenItComesBack) {
  const Layout layout = build_layout(make_model("lenet5", {1, 28, 28}, 10));
  FlatBuffer values(layout);
  initialize(layout, 5, values);
  CheckpointState state;
  state.step = 7;
  state.normalization = {.moments = {{0.5, 0.25}}};
  upload(save_checkpoint(run, {.state = state,
                               .model = {{layout, values}},
                               .optimizer = {{layout, values, ".momentum_buffer"}},
                               .config = "model: {name: lenet5}\n"}));
  FlatBuffer loaded(layout);
  EXPECT_EQ(load_checkpoint(download(prefix / "run"), {{layout, loaded}}).step, 7u);
  EXPECT_EQ(weights_sha256(layout, loaded), weights_sha256(layout, values));
}

TEST_F(S3CheckpointTest, PointerIsWrittenLastAndManifestBeforeIt) {
  upload(make_checkpoint(run, 120));
  const std::string place = "/models/p/run/checkpoints/";
  EXPECT_THAT(proxy.requests(),
              ElementsAre("GET " + place + "00000120/manifest.json",
                          "PUT " + place + "00000120/model.safetensors",
                          "PUT " + place + "00000120/optimizer.safetensors",
                          "PUT " + place + "00000120/state.json",
                          "PUT " + place + "00000120/manifest.json",
                          "PUT " + place + "last.json"));
}

TEST_F(S3CheckpointTest, ThatIsThereAlreadyOnlyGetsItsPointer) {
  const fs::path checkpoint = make_checkpoint(run, 120);
  upload(checkpoint);
  const std::size_t before = proxy.requests().size();
  EXPECT_EQ(upload(checkpoint, CheckpointRole::best), 0u);
  EXPECT_EQ(proxy.requests().size(), before + 2);
  EXPECT_TRUE(has("best.json"));
}

TEST_F(S3CheckpointTest, AnotherOneOfTheSameStepTakesItsPlace) {
  upload(make_checkpoint(run, 120));
  const fs::path other = make_checkpoint(folder.path() / "other", 120, 100000, 9);
  upload(other);
  EXPECT_TRUE(contents_of(download(prefix / "run")) == contents_of(other));
}

TEST_F(S3CheckpointTest, BeingReplacedIsNoneUntilItIsWhole) {
  upload(make_checkpoint(run, 120));
  proxy.set(
      {.kind = Kind::answer_500, .at = "PUT /models/p/run/checkpoints/00000120/state"});
  const fs::path other = make_checkpoint(folder.path() / "other", 120, 100000, 9);
  expect_error(InputKind::storage, {"HTTP 500"}, [&] { upload(other); });
  EXPECT_FALSE(has("00000120/manifest.json"));
  expect_error(InputKind::data, {"no manifest.json", "did not finish"},
               [&] { download(prefix / "run"); });
  expect_nothing_down();
}

TEST_F(S3CheckpointTest, ThatCannotGoUpWholeLeavesThePointerWhereItWas) {
  upload(make_checkpoint(run, 120));
  const fs::path newer = make_checkpoint(run, 240, 9000000);
  const auto before = contents_of(newer);
  for (const char* at :
       {"partNumber=2", "00000240/optimizer", "00000240/manifest.json"}) {
    for (const Kind kind : {Kind::answer_500, Kind::cut_request}) {
      proxy.set({.kind = kind, .at = at, .after = 500});
      expect_error(InputKind::storage, {"s3://models/p/run/checkpoints/00000240/"},
                   [&] { upload(newer); });
    }
  }
  proxy.set({.times = 0});
  EXPECT_EQ(download(prefix / "run").filename(), "00000120");
  EXPECT_TRUE(contents_of(newer) == before) << "the local one is unharmed";
  EXPECT_FALSE(has("00000240/manifest.json"));
  EXPECT_EQ(server.open_uploads(), 0);
}

TEST_F(S3CheckpointTest, ThatIsDamagedHereDoesNotGoUp) {
  const fs::path checkpoint = make_checkpoint(run, 120);
  std::string bytes = read_text(checkpoint / "model.safetensors");
  bytes[777] ^= 1;
  write_atomically(checkpoint / "model.safetensors", bytes);
  expect_error(InputKind::data, {"model.safetensors", "a different SHA-256"},
               [&] { upload(checkpoint); });
  EXPECT_FALSE(has("00000120/state.json"));
  EXPECT_FALSE(has("last.json"));
}

TEST_F(S3CheckpointTest, IsFoundByRoleStepAndPrefix) {
  upload(make_checkpoint(run, 120), CheckpointRole::best);
  upload(make_checkpoint(run, 240), CheckpointRole::last);
  const auto step = [&](const S3Location& from) {
    return download(from).filename().string();
  };
  EXPECT_EQ(step(prefix / "run"), "00000240");
  EXPECT_EQ(step(prefix / "run" / "last"), "00000240");
  EXPECT_EQ(step(prefix / "run" / "best"), "00000120");
  EXPECT_EQ(step(prefix / "run" / "checkpoints"), "00000240");
  EXPECT_EQ(step(prefix / "run" / "checkpoints" / "best"), "00000120");
  EXPECT_EQ(step(prefix / "run" / "checkpoints" / "00000120"), "00000120");
  EXPECT_EQ(step(prefix / "run" / "checkpoints" / "120"), "00000120");
  show_to_list("run");
  EXPECT_EQ(step(prefix), "00000240");
  EXPECT_EQ(step(prefix / "best"), "00000120");
}

TEST_F(S3CheckpointTest, OfSeveralRunsWantsOneNamed) {
  const fs::path checkpoint = make_checkpoint(run, 120);
  upload(checkpoint);
  upload(checkpoint, CheckpointRole::last, "second");
  for (const char* name : {"run", "second", "no-run"}) show_to_list(name);
  expect_error(InputKind::data, {"run, second", "s3://models/p/run"},
               [&] { download(prefix); });
}

TEST_F(S3CheckpointTest, ThatIsNotThereIsNamed) {
  expect_error(InputKind::data, {"s3://models/p/run", "no checkpoints/last.json"},
               [&] { download(prefix / "run"); });
  expect_error(InputKind::data,
               {"s3://models/p/run/checkpoints/00000007", "manifest.json"},
               [&] { download(prefix / "run" / "checkpoints" / "7"); });
  expect_error(InputKind::storage, {"NoSuchBucket"}, [&] {
    download({"another", "p/run"});
  });
  expect_nothing_down();
}

TEST_F(S3CheckpointTest, WithADamagedOrMissingObjectIsRefusedWhole) {
  upload(make_checkpoint(run, 120));
  const fs::path model = server.stored("p/run/checkpoints/00000120/model.safetensors");
  std::string bytes = read_text(model);
  bytes[5] ^= 1;
  write_atomically(model, bytes);
  fs::remove(fs::path(model.string() + ".md5"));  // so that the server has it anew
  expect_error(InputKind::data, {"00000120/model.safetensors", "SHA-256"},
               [&] { download(prefix / "run"); });
  write_atomically(model, bytes.substr(1));
  expect_error(InputKind::data, {"00000120/model.safetensors", "bytes"},
               [&] { download(prefix / "run"); });
  fs::remove(model);
  expect_error(InputKind::data, {"00000120/model.safetensors", "no such object"},
               [&] { download(prefix / "run"); });
  expect_nothing_down();
}

TEST_F(S3CheckpointTest, WithADamagedPointerOrManifestIsRefused) {
  upload(make_checkpoint(run, 120));
  const auto replace = [&](const std::string& name, const std::string& text) {
    client.put_bytes(prefix / "run/checkpoints" / name, std::as_bytes(std::span(text)));
  };
  replace("00000120/manifest.json", R"({"files": {"../x": {"bytes": 1}}})");
  expect_error(InputKind::data, {"manifest"}, [&] { download(prefix / "run"); });
  replace("last.json", R"({"checkpoint": "../../etc"})");
  expect_error(InputKind::data, {"last.json"}, [&] { download(prefix / "run"); });
  expect_nothing_down();
}

TEST_F(S3CheckpointTest, DownloadThatBreaksOffKeepsTheLocalOne) {
  const fs::path checkpoint = make_checkpoint(run, 120, 9000000);
  upload(checkpoint);
  const fs::path back = download(prefix / "run");
  proxy.set({.kind = Kind::cut_answer, .at = "model.safetensors", .after = 5000000});
  expect_error(InputKind::storage, {"model.safetensors"},
               [&] { download(prefix / "run"); });
  EXPECT_TRUE(contents_of(back) == contents_of(checkpoint));
  proxy.set({.kind = Kind::cut_answer,
             .at = "model.safetensors",
             .after = 5000000,
             .times = 2});
  EXPECT_TRUE(contents_of(download(prefix / "run")) == contents_of(checkpoint));
}

TEST_F(S3CheckpointTest, UploadCanBeCheckedBeforehand) {
  EXPECT_NO_THROW(check_upload(client, prefix / "run"));
  upload(make_checkpoint(run, 120));
  EXPECT_NO_THROW(check_upload(client, prefix / "run"));
  expect_error(InputKind::storage, {"NoSuchBucket"}, [&] {
    check_upload(client, {"another", "p"});
  });
  S3Access access = access_at(server.port());
  access.secret = "hush-hush";
  S3Client stranger(access, quick());
  expect_error(InputKind::storage, {"SignatureDoesNotMatch"},
               [&] { check_upload(stranger, prefix / "run"); });
}

}  // namespace
}  // namespace convoy
