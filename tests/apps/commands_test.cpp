// SPDX-License-Identifier: Apache-2.0
//
// The commands that look and measure: models, data, bench, and what every command says
// of itself.

#include <fmt/format.h>

#include "convoy/system/fma_probe.h"
#include "tests/apps/small_run.h"
#include "tests/plot/png_pixels.h"

namespace convoy {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;

class CommandLine : public ProgramTest {
 protected:
  /// What a command prints, expecting success.
  std::string output(const Arguments& arguments) const {
    const CommandResult result = convoy(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }
};

TEST_F(CommandLine, HasHelpWithAnExampleForEveryCommand) {
  for (const Arguments& command :
       {Arguments{}, Arguments{"train"}, Arguments{"eval"}, Arguments{"compare"},
        Arguments{"sweep"}, Arguments{"kfold"}, Arguments{"models"}, Arguments{"data"},
        Arguments{"data", "list"}, Arguments{"data", "get"}, Arguments{"data", "check"},
        Arguments{"data", "partition"}, Arguments{"bench"}, Arguments{"bench", "step"},
        Arguments{"bench", "loader"}, Arguments{"bench", "collective"}}) {
    std::string example = "\n  convoy";
    for (const std::string& word : command) example += " " + word;

    const std::string help = output(command + Arguments{"--help"});
    EXPECT_THAT(help, HasSubstr("Example"));
    EXPECT_THAT(help, HasSubstr(example));
  }
}

TEST_F(CommandLine, SaysItsVersionAndWhatItIsMadeOf) {
  const std::string text = output({"--version"});

  EXPECT_THAT(text,
              testing::MatchesRegex("convoy [0-9]+\\.[0-9]+\\.[0-9]+ \\(.+\\)\n.*"));
  for (const char* part : {"GCC", "cores", "Highway", "OpenSSL", "zlib", "libcurl"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST_F(CommandLine, ListsModelsWithTheirParameters) {
  const std::string text = output({"models"});

  for (const char* part :
       {"lenet5", "61,706", "cnn1", "1,199,882", "mlp6", "3,846,442"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST_F(CommandLine, ListsModelsAsJson) {
  const json models = json::parse(output({"models", "--json"}));

  std::vector<std::string> names;
  for (const json& model : models) names.push_back(model.at("name"));
  EXPECT_THAT(names, testing::IsSupersetOf({"lenet5", "cnn1", "mlp6"}));
}

TEST_F(CommandLine, ShowsAModelLayerByLayer) {
  const std::string text = output({"models", "lenet5"});

  EXPECT_THAT(text, HasSubstr("conv2"));
  EXPECT_THAT(text, HasSubstr("16x10x10"));
  EXPECT_THAT(text, HasSubstr("FLOPs"));
  EXPECT_THAT(text, HasSubstr("61,706"));
}

TEST_F(CommandLine, ShowsAModelAsJsonThatAddsUp) {
  const json model = json::parse(output({"models", "cnn1", "--json", "--classes", "7"}));

  std::size_t parameters = 0;
  for (const json& layer : model.at("layers")) {
    parameters += layer.at("parameters").get<std::size_t>();
    EXPECT_GE(layer.at("forward_flops"), 0);
    EXPECT_GT(layer.at("activation_bytes"), 0);
  }
  EXPECT_EQ(model.at("parameters"), parameters);
  EXPECT_EQ(model.at("classes"), 7);
  EXPECT_EQ(model.at("layers").back().at("output"), (json{7, 1, 1}));
}

TEST_F(CommandLine, RefusesToShowAnUnknownModel) {
  expect_refused(convoy({"models", "lenet"}), 78, {"found:    lenet\n", "hint:"});
}

TEST_F(CommandLine, ListsDatasetsWithHowToGetThem) {
  const std::string text = output({"data", "list"});

  for (const char* part :
       {"fashion_mnist", "60,000", "mnist", "convoy data get mnist", "cifar10", "3x32x32",
        "cifar100", "svhn", "604,388", "synthetic"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST_F(CommandLine, ChecksTheDatasetOfTheSystem) {
  const std::string text = output({"data", "check", "fashion_mnist"});

  EXPECT_THAT(text, HasSubstr("/usr/share/datasets/fashion-mnist"));
  EXPECT_THAT(text, HasSubstr("train  60,000 samples"));
  EXPECT_THAT(text, HasSubstr("test   10,000 samples"));
  EXPECT_THAT(text, HasSubstr("complete and as published"));
}

TEST_F(CommandLine, ShowsWhoHoldsWhichLabels) {
  const std::string text = output({"data", "partition", "data.partition=labels", "-n",
                                   "4", "--picture", "parts.png"});

  EXPECT_THAT(text, HasSubstr("fashion_mnist, data.partition=labels\n"));
  EXPECT_THAT(text, HasSubstr("9 Ankle boot"));
  EXPECT_THAT(text, HasSubstr("4 workers, 48,000 samples in total; smallest part 12,000, "
                              "largest 12,000; 12,000 of 60,000 left out\n"));
  // Of ten labels in four parts the last two have two, and all samples of them.
  EXPECT_THAT(text, testing::ContainsRegex("\n     3 .* 6,000 .* 6,000 .*12,000\n"));
  const PngPixels picture(read_text(here() / "parts.png"));
  EXPECT_GT(picture.count([](Pixel p) { return p.blue > p.red + 60; }), 10 * 50 * 50);
}

TEST_F(CommandLine, ShowsTheSameAgainAndOtherLabelsWithAnotherSeed) {
  const Arguments command{"data", "partition", "data.partition=labels_unscaled", "-n",
                          "10"};
  const std::string text = output(command);

  EXPECT_EQ(output(command), text);
  EXPECT_NE(output(command + Arguments{"train.seed=2"}), text);
  EXPECT_THAT(text,
              HasSubstr("60,000 samples in total; smallest part 6,000, largest 6,000\n"));
}

TEST_F(CommandLine, RefusesToShowMoreWorkersThanLabels) {
  expect_refused(convoy({"data", "partition", "data.partition=labels", "-n", "11"}), 78,
                 {"data.partition", "at most 10 parts", "hint:"});
  expect_nothing_written();
}

TEST_F(CommandLine, SaysThatThereIsNothingToGetForSyntheticData) {
  EXPECT_THAT(output({"data", "get", "synthetic"}), HasSubstr("nothing to get"));
  expect_nothing_written();
}

TEST_F(CommandLine, MeasuresTheLoader) {
  const json result = json::parse(
      output({"bench", "loader", "--json", "--seconds", "0.05", "data=synthetic",
              "data.synthetic.train_count=100", "train.augment=crop_flip"}));

  EXPECT_EQ(result.at("augment"), "crop_flip");
  EXPECT_GT(result.at("images"), 0);
  EXPECT_NEAR(
      result.at("images_per_second").get<double>() * result.at("image_us").get<double>(),
      1e6, 1);
  expect_nothing_written();
}

TEST_F(CommandLine, MeasuresCollectivesBesideGloo) {
  for (const char* transport : {"shared", "tcp"}) {
    const json result = json::parse(
        output({"bench", "collective", "--json", "--ranks", "3", "--transport", transport,
                "--seconds", "0", "--bytes", "4096,400000"}));

    EXPECT_EQ(result["ranks"], 3);
    ASSERT_EQ(result["rows"].size(), 2u);
    EXPECT_EQ(result["rows"][1]["bytes"], 400000);
    for (const json& row : result["rows"]) {
      for (const char* time : {"p50_us", "gb_per_s", "gloo_p50_us", "gloo_gb_per_s"}) {
        EXPECT_GT(row[time], 0.0) << time;
      }
    }
  }
  expect_nothing_written();
}

TEST_F(CommandLine, MeasuresAStep) {
  // Of an image: three times the forward pass, but for the first layer's source.
  constexpr double kLenet5Flops = 3 * 833'040 - 235'200;

  const json result = json::parse(output({"bench", "step", "--json", "--seconds", "0.05",
                                          "train.batch_size=16", "cluster.threads=1"}));

  const double p50 = result.at("step_ms").at("p50");
  EXPECT_GT(p50, 0);
  EXPECT_LE(p50, result.at("step_ms").at("p90"));
  EXPECT_NEAR(result.at("images_per_second"), 16 / p50 * 1e3, 1);
  EXPECT_EQ(result.at("gflops").at("effective"), result.at("gflops").at("real"))
      << "LeNet-5 has nothing that Winograd's forms would save";
  EXPECT_NEAR(result.at("gflops").at("real"), 16 * kLenet5Flops / p50 / 1e6, 1e-3);
  EXPECT_GT(result.at("probe_gflops"), 0);
  EXPECT_LE(result.at("probe_gflops"), result.at("probe_gflops_before"));
  EXPECT_LE(result.at("probe_gflops"), result.at("probe_gflops_after"));
  EXPECT_EQ(result.at("probe_vectors"), name_of(widest_fma_vectors()));
  EXPECT_GT(result.at("bandwidth_gb_per_s").at("one_thread"), 0);
  EXPECT_GT(result.at("bandwidth_gb_per_s").at("all_threads"), 0);
  EXPECT_EQ(result.at("batch_size"), 16);
  EXPECT_EQ(result.at("threads"), 1);
  expect_nothing_written();
}

TEST_F(CommandLine, ComparesEveryStageWithBothProbes) {
  const std::string text = output({"bench", "step", "--layers", "--seconds", "0.05",
                                   "train.batch_size=16", "cluster.threads=1"});

  EXPECT_THAT(text,
              HasSubstr(fmt::format("in {} vectors", name_of(widest_fma_vectors()))));
  EXPECT_THAT(text,
              ContainsRegex("memory +[0-9.]+ GB/s on 1 thread, [0-9.]+ on 1, read"));
  // 28 x 28 pixels of 16 images, 6 x 14 x 14 of them after the pool, and 156 parameters;
  // backward as much, since the input has no gradient and is read once more.
  EXPECT_THAT(text, ContainsRegex("conv1 .* 6x14x14 .* 0.13 +[0-9]+ % +0.13 +[0-9]+ %"));
}

TEST_F(CommandLine, MeasuresAStepOfAnyOptimizer) {
  for (const char* optimizer : {"sgd", "adam", "adamw"}) {
    const json result = json::parse(
        output({"bench", "step", "--json", "--seconds", "0.01", "train.batch_size=16",
                "cluster.threads=1", "optimizer.clip_norm=1",
                std::string("optimizer=") + optimizer}));
    EXPECT_GT(result.at("step_ms").at("p50"), 0) << optimizer;
  }
}

}  // namespace
}  // namespace convoy
