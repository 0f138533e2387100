// SPDX-License-Identifier: Apache-2.0
//
// convoy eval of checkpoints that are damaged, or that somebody made up.

#include <algorithm>
#include <cstring>
#include <functional>

#include "convoy/base/sha256.h"
#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// A safetensors file, taken apart so that a test can put it together wrongly.
struct Tensors {
  json header;
  std::string data;

  static Tensors read(const fs::path& path) {
    const std::string file = read_text(path);
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), sizeof(length));
    return {json::parse(file.substr(sizeof(length), length)),
            file.substr(sizeof(length) + length)};
  }

  void write(const fs::path& path) const {
    const std::string text = header.dump();
    const std::uint64_t length = text.size();
    std::string file(sizeof(length), '\0');
    std::memcpy(file.data(), &length, sizeof(length));
    write_atomically(path, file + text + data);
  }

  json& offsets(const std::string& name) { return header.at(name).at("data_offsets"); }
};

/// A trained lenet5 and its one checkpoint.
class BadCheckpoint : public ProgramTest {
 protected:
  CommandResult eval(const fs::path& target) const {
    return convoy({"eval", target.string()});
  }

  void expect_bad(std::initializer_list<std::string> parts, int code = 65) const {
    expect_refused(eval(checkpoint), code, parts);
    EXPECT_THAT(all_below(run), Not(Contains(HasSubstr("confusion"))));
    EXPECT_EQ(read_text(run / "eval.json"), evaluation) << "as training wrote it";
  }

  /// Makes the manifest hold for the files as they are now.
  void reseal() const {
    nlohmann::ordered_json ordered;
    for (const char* name :
         {"model.safetensors", "optimizer.safetensors", "state.json", "config.yaml"}) {
      const std::vector<std::byte> content = read_bytes(checkpoint / name);
      ordered[name] = {{"bytes", content.size()}, {"sha256", sha256_hex(content)}};
    }
    const std::string text = ordered.dump(2) + "\n";
    nlohmann::ordered_json manifest = {
        {"files", ordered}, {"sha256", sha256_hex(std::as_bytes(std::span(text)))}};
    write_atomically(checkpoint / "manifest.json", manifest.dump(2) + "\n");
  }

  void change_tensors(const std::function<void(Tensors&)>& change) const {
    Tensors tensors = Tensors::read(model);
    change(tensors);
    tensors.write(model);
    reseal();
  }

  void change_state(const std::function<void(json&)>& change) const {
    json content = read_json(state);
    change(content);
    write_atomically(state, content.dump());
    reseal();
  }

  fs::path run = train("a");
  fs::path checkpoint = run / "checkpoints" / "00000006";
  fs::path model = checkpoint / "model.safetensors";
  fs::path state = checkpoint / "state.json";
  std::string evaluation = read_text(run / "eval.json");
};

TEST_F(BadCheckpoint, IsReadIfOnlyPutTogetherAgain) {
  change_tensors([](Tensors&) {});

  EXPECT_EQ(eval(run).code, 0);
}

TEST_F(BadCheckpoint, WithAChangedByteIsRefused) {
  std::string content = read_text(model);
  content[content.size() / 2] ^= 1;
  write_atomically(model, content);

  expect_bad({model.string(), "a different SHA-256", "hint:"});
}

TEST_F(BadCheckpoint, IsNamedAndTheOneBeforeItUsed) {
  write_atomically(state, read_text(state) + " ");

  const CommandResult result = eval(run);

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("00000006"), HasSubstr("damaged")));
  EXPECT_EQ(read_json(run / "eval.json").at("step"), 3);
}

TEST_F(BadCheckpoint, WithAChangedStateIsRefused) {
  write_atomically(state, read_text(state) + " ");

  expect_bad({state.string(), "a different SHA-256"});
}

TEST_F(BadCheckpoint, CutShortIsRefused) {
  fs::resize_file(model, fs::file_size(model) - 1);
  expect_bad({model.string(), "bytes"});

  reseal();
  expect_bad({model.string()});
}

TEST_F(BadCheckpoint, CutWithinItsHeaderIsRefused) {
  for (const int size : {0, 5, 100}) {
    fs::resize_file(model, size);
    reseal();

    expect_bad({model.string()});
  }
}

TEST_F(BadCheckpoint, WithAHeaderTooLongIsRefused) {
  std::string content = read_text(model);
  for (const std::uint64_t length : {std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    std::memcpy(content.data(), &length, sizeof(length));
    write_atomically(model, content);
    reseal();

    expect_bad({model.string() + ": header"});
  }
}

TEST_F(BadCheckpoint, WithOverlappingTensorsIsRefused) {
  change_tensors([](Tensors& tensors) {
    tensors.offsets("fc3.bias") = {0, 40};
    tensors.data.resize(tensors.data.size() - 40);
  });

  expect_bad({model.string() + ": tensor ", "overlap"});
}

TEST_F(BadCheckpoint, WithATensorBeyondItsEndIsRefused) {
  change_tensors([](Tensors& tensors) {
    const std::uint64_t size = tensors.data.size();
    tensors.offsets("fc3.bias") = {size + 1000, size + 1040};
  });

  expect_bad({model.string() + ": tensor fc3.bias", "beyond the file"});
}

TEST_F(BadCheckpoint, WithAnotherDtypeIsRefused) {
  change_tensors([](Tensors& tensors) { tensors.header["fc3.bias"]["dtype"] = "I32"; });

  expect_bad({model.string() + ": tensor fc3.bias", "dtype I32", "dtype F32"});
}

TEST_F(BadCheckpoint, WithAnotherShapeIsRefused) {
  change_tensors([](Tensors& tensors) { tensors.header["fc3.bias"]["shape"] = {5, 2}; });

  expect_bad({model.string() + ": tensor fc3.bias", "[5, 2]", "[10]"});
}

TEST_F(BadCheckpoint, WithoutATensorIsRefused) {
  change_tensors([](Tensors& tensors) {
    tensors.header["fc3.bios"] = tensors.header["fc3.bias"];
    tensors.header.erase("fc3.bias");
  });

  expect_bad({model.string() + ": tensor fc3.bias", "no such tensor", "nearest name"});
}

TEST_F(BadCheckpoint, OfAnotherModelIsRefused) {
  expect_refused(convoy({"eval", run.string(), "model=cnn1"}), 65,
                 {"conv1.weight", "[6, 1, 5, 5]", "[32, 1, 3, 3]", "another model"});
}

TEST_F(BadCheckpoint, WithoutManifestIsNone) {
  fs::remove(checkpoint / "manifest.json");

  expect_bad({checkpoint.string(), "no checkpoint"});
  fs::remove_all(run / "checkpoints" / "00000003");
  expect_refused(eval(run), 65, {run.string(), "no checkpoint"});
}

TEST_F(BadCheckpoint, WithADamagedManifestIsRefused) {
  for (const char* text : {"", "{", "[]", "{\"files\": 3}"}) {
    write_atomically(checkpoint / "manifest.json", text);

    expect_bad({(checkpoint / "manifest.json").string()});
  }
}

TEST_F(BadCheckpoint, WithoutAFieldOfItsStateIsRefused) {
  change_state([](json& content) { content.erase("normalization"); });

  expect_bad({state.string(), "normalization"});
}

TEST_F(BadCheckpoint, WithADeviationThatCannotBeIsRefused) {
  const json empty = json::array();
  for (const json& deviation :
       {json(0.0), json(-1.0), json{0.5, 0.0}, json{1.0, 2.0}, empty}) {
    change_state(
        [&](json& content) { content["normalization"]["deviation"] = deviation; });

    expect_bad({state.string() + ": normalization.deviation", "above 0"});
  }
}

TEST_F(BadCheckpoint, OfANetworkThatIsNotFiniteIsEvaluatedAllTheSame) {
  change_tensors([](Tensors& tensors) {
    std::ranges::fill(tensors.data, static_cast<char>(0xFF));  // not-a-number throughout
  });

  const CommandResult result = eval(run);

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(read_json(run / "eval.json").at("loss").is_null());
  EXPECT_EQ(read_json(run / "eval.json").at("total"), 53);
}

TEST_F(BadCheckpoint, WithoutItsTensorsIsRefused) {
  fs::remove(model);

  expect_bad({model.string()}, 74);
}

TEST_F(BadCheckpoint, ThatIsNotThereIsRefused) {
  const fs::path nowhere = here() / "nowhere";
  const fs::path loop = here() / "loop";
  fs::create_symlink(loop, loop);

  for (const fs::path& target : {nowhere, loop, fs::path(std::string(300, 'a'))}) {
    expect_refused(eval(target), 74, {target.string()});
  }
}

TEST_F(BadCheckpoint, InAFolderWithoutOneIsRefused) {
  const std::filesystem::path empty = here() / "empty";
  std::filesystem::create_directory(empty);
  expect_refused(eval(empty), 65, {empty.string(), "no checkpoint", "hint:"});
  expect_refused(eval(run / "config.yaml"), 65, {"no checkpoint"});
}

}  // namespace
}  // namespace convoy
