// SPDX-License-Identifier: Apache-2.0
//
// Runs in 16 bits: what they record, save and say.

#include <gmock/gmock.h>

#include "convoy/checkpoint/safetensors.h"
#include "convoy/train/loss_scale_report.h"
#include "tests/comm/thread_ranks.h"
#include "tests/train/recorded_run.h"

namespace convoy {
namespace {

using testing::HasSubstr;

class Precision : public RecordedRun {
 protected:
  Precision() { settings.model.name = "lenet5"; }

  std::string log_of(const std::string& name) {
    return read_text(here.path() / name / "log.txt");
  }
  SafetensorsFile saved(const std::string& name, const char* file) {
    return SafetensorsFile::read(here.path() / name / "checkpoints" / "last" / file);
  }
};

TEST_F(Precision, DoublesTheLossScaleAfterEveryInterval) {
  settings.precision.name = PrecisionChoice::amp_o2;
  settings.precision.init_scale = 4;
  settings.precision.growth_interval = 3;

  const nlohmann::json summary = train_and_sum_up("run");

  std::vector<double> scales;
  for (const auto& record : records_of("run", "step")) {
    scales.push_back(record.at("amp").at("loss_scale"));
  }
  EXPECT_THAT(scales, testing::ElementsAre(4, 4, 8, 8, 8, 16, 16, 16, 32, 32));
  EXPECT_EQ(summary.at("precision"), "amp_o2");
  EXPECT_EQ(summary.at("amp").at("loss_scale"), 32);
  EXPECT_EQ(summary.at("amp").at("skipped_steps"), 0);
}

/// At a learning rate of zero nothing but the scale changes.
TEST_F(Precision, SkipsStepsOfGradientsThatOverflowAndSaysSo) {
  settings.precision.name = PrecisionChoice::amp_o2;
  settings.precision.init_scale = 16777216;
  settings.optimizer.lr = 0;

  const nlohmann::json summary = train_and_sum_up("run");

  EXPECT_GT(summary.at("amp").at("skipped_steps"), 0);
  EXPECT_LT(summary.at("amp").at("loss_scale"), 16777216);
  EXPECT_THAT(log_of("run"),
              HasSubstr("Gradient overflow.  Skipping step, loss scaler 0 reducing loss "
                        "scale to 8388608.0\n"));
}

TEST_F(Precision, TrainsAlikeWhateverTheLossIsScaledBy) {
  settings.precision.name = PrecisionChoice::amp_o2;
  settings.precision.init_scale = 256;
  const nlohmann::json one = train_and_sum_up("one");
  settings.precision.init_scale = 512;
  const nlohmann::json other = train_and_sum_up("other");
  EXPECT_EQ(one.at("amp").at("skipped_steps"), 0);
  // Of gradients below 2^-14 more bits are kept, the larger the scale.
  EXPECT_NEAR(one.at("train").at("loss").get<double>(),
              other.at("train").at("loss").get<double>(), 1e-3);
}

TEST_F(Precision, SavesValuesIn16BitsAndMastersIn32) {
  for (const auto& [precision, dtype] : {std::pair{PrecisionChoice::amp_o2, "F16"},
                                         std::pair{PrecisionChoice::bf16, "BF16"}}) {
    settings.precision.name = precision;
    const std::string name = choice_name(precision);
    train_and_sum_up(name);

    const SafetensorsFile model = saved(name, "model.safetensors");
    const SafetensorsFile optimizer = saved(name, "optimizer.safetensors");

    EXPECT_EQ(model.tensor("conv1.weight").dtype, dtype);
    EXPECT_EQ(optimizer.tensor("conv1.weight.master").dtype, "F32");
    std::vector<float> rounded = optimizer.values("conv1.weight.master");
    const Dtype type = precision == PrecisionChoice::bf16 ? Dtype::bf16 : Dtype::fp16;
    round_in_place(type, rounded.data(), rounded.size());
    EXPECT_EQ(model.values("conv1.weight"), rounded);
  }
}

TEST_F(Precision, KeepsNormsInFp32) {
  settings.model.name = "vit_cifar";
  set_small_images("vit_cifar", settings);
  settings.precision.name = PrecisionChoice::bf16;
  train_and_sum_up("run");
  std::size_t norms = 0;
  const SafetensorsFile model = saved("run", "model.safetensors");
  for (const TensorEntry& tensor : model.tensors()) {
    const bool is_norm = tensor.name.find("norm") != std::string::npos;
    norms += is_norm ? 1 : 0;
    EXPECT_EQ(tensor.dtype, is_norm ? "F32" : "BF16") << tensor.name;
  }
  EXPECT_GT(norms, 0u);
}

TEST_F(Precision, PlansWithApexsOptionsTwice) {
  settings.precision.name = PrecisionChoice::amp_o2;
  const std::string options =
      "enabled                : True\n"
      "opt_level              : O2\n"
      "cast_model_type        : torch.float16\n"
      "patch_torch_functions  : False\n"
      "keep_batchnorm_fp32    : True\n"
      "master_weights         : True\n"
      "loss_scale             : dynamic\n";
  EXPECT_THAT(Trainer(settings, comm).plan(),
              HasSubstr("Defaults for this optimization level are:\n" + options +
                        "Processing user overrides (additional kwargs that are not "
                        "None)...\n"
                        "After processing overrides, optimization options are:\n" +
                        options));
}

TEST_F(Precision, SendsHalfTheBytesOfFp32) {
  settings.strategy.name = StrategyChoice::ddp;
  std::map<std::string, double> sent;
  for (const PrecisionChoice precision :
       {PrecisionChoice::fp32, PrecisionChoice::amp_o2, PrecisionChoice::bf16}) {
    settings.precision.name = precision;
    run_ranks(2, [&](Comm& ranks) {
      Trainer(settings, ranks).train(nullptr, nullptr, stop, "");
      if (!ranks.is_first()) return;
      sent[choice_name(precision)] =
          static_cast<double>(ranks.traffic(Operation::all_reduce).bytes_sent);
    });
  }
  EXPECT_EQ(sent.at("amp_o2"), sent.at("fp32") / 2);
  EXPECT_EQ(sent.at("bf16"), sent.at("fp32") / 2);
}

TEST_F(Precision, SaysWhatToTryIfTheScaleFellBelowOne) {
  ThreadTeam team(1);
  LossScaler scaler({.initial = 1}, team);
  LossScaleReport report(&scaler);
  report.begin();
  EXPECT_FALSE(report.news());
  EXPECT_EQ(report.reason_to_end("at step 4"), "");

  scaler.take_in(/*is_finite=*/false);

  EXPECT_THAT(report.news().value(), HasSubstr("reducing loss scale to 0.5"));
  EXPECT_FALSE(report.news()) << "once per skipped step";
  EXPECT_THAT(report.reason_to_end("at step 4"),
              HasSubstr("the loss scale fell below 1 at step 4: gradients"));
  EXPECT_THAT(report.reason_to_end(""), HasSubstr("precision=bf16"));
}

}  // namespace
}  // namespace convoy
