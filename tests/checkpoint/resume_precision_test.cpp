// SPDX-License-Identifier: Apache-2.0
//
// Runs in 16 bits that are stopped and go on, also in another precision.

#include <gmock/gmock.h>

#include "convoy/checkpoint/safetensors.h"
#include "convoy/comm/alone_comm.h"
#include "tests/checkpoint/resumed_runs.h"

namespace convoy {
namespace {

using testing::HasSubstr;

class ResumeIn16Bits : public Resume, public testing::WithParamInterface<const char*> {};

/// The first steps overflow at this scale, and later it doubles: checkpoints are right
/// after a skipped step and in the middle of a growth interval.
Settings scaled_settings() {
  Settings settings = settings_of_resumed("lenet5");
  settings.precision.name = PrecisionChoice::amp_o2;
  settings.precision.init_scale = 1048576;
  settings.precision.growth_interval = 3;
  settings.optimizer.name = OptimizerChoice::adam;
  settings.optimizer.lr = 0.001;
  return settings;
}

TEST_P(ResumeIn16Bits, EndsAtTheSameBitsFromAnyStep) {
  Settings settings = scaled_settings();
  strategy = GetParam();
  train(settings, "whole", 3);
  std::vector<std::uint64_t> skipped;
  for (std::size_t step = 1; step < 6; ++step) {
    const CheckpointState state = load_state(checkpoint("whole", step));
    skipped.push_back(state.loss_scale.value().skipped);
    const int ranks = 1 + static_cast<int>(step) % 4;
    const std::string name = fmt::format("from{}", step);
    train(going_on(settings, checkpoint("whole", step)), name, ranks);
    EXPECT_EQ(weights(name), weights("whole")) << step;
  }
  EXPECT_GT(skipped.front(), 0u) << "the first step is skipped";
  EXPECT_LT(skipped.back(), 5u) << "later ones are not";
}

INSTANTIATE_TEST_SUITE_P(With, ResumeIn16Bits,
                         testing::Values("all_reduce", "gather_scatter", "ddp", "fsdp"));

class ResumeWithoutAScale : public Resume,
                            public testing::WithParamInterface<const char*> {};

/// Values of bf16, and fp32 values whose gradients are exchanged in 16 bits.
TEST_P(ResumeWithoutAScale, EndsAtTheSameBitsInMidEpoch) {
  strategy = GetParam();
  Settings settings = settings_of_resumed("lenet5");
  for (const CompressChoice compress :
       {CompressChoice::none, CompressChoice::fp16, CompressChoice::bf16}) {
    settings.ddp.compress = compress;
    settings.precision.name =
        compress == CompressChoice::none ? PrecisionChoice::bf16 : PrecisionChoice::fp32;
    const std::string whole = "whole " + choice_name(compress);
    const std::string resumed = "resumed " + choice_name(compress);
    train(settings, whole, 3);
    train(going_on(settings, checkpoint(whole, 2)), resumed, 4);
    EXPECT_EQ(weights(resumed), weights(whole)) << choice_name(compress);
  }
}

INSTANTIATE_TEST_SUITE_P(With, ResumeWithoutAScale,
                         testing::Values("all_reduce", "gather_scatter", "ddp", "fsdp"));

/// Images so bright that activations overflow in forward: the loss is not a number.
TEST_F(Resume, IsPossibleAfterStepsWhoseLossOverflowed) {
  Settings settings = settings_of_resumed("vgg11");
  settings.precision.name = PrecisionChoice::amp_o2;
  settings.data.normalize = NormalizeChoice::fixed;
  settings.data.mean = {0};
  settings.data.std = {1e-7};

  train(settings, "overflowed", /*ranks=*/1, /*stop_after=*/2);

  const CheckpointState state = load_state(checkpoint("overflowed", 2));
  EXPECT_EQ(state.loss_scale.value().skipped, 2u);
  EXPECT_EQ(state.epoch_sum.samples, 0u) << "of steps that were not skipped";
  const auto model =
      SafetensorsFile::read(checkpoint("overflowed", 2) / "model.safetensors");
  for (const TensorEntry& tensor : model.tensors()) {
    if (!tensor.name.ends_with("running_mean")) continue;
    for (const float mean : model.values(tensor.name)) {
      ASSERT_TRUE(std::isfinite(mean)) << tensor.name;
    }
  }
}

std::vector<float> trained_in(const std::filesystem::path& checkpoint) {
  const auto optimizer = SafetensorsFile::read(checkpoint / "optimizer.safetensors");
  if (optimizer.contains("fc1.weight.master")) {
    return optimizer.values("fc1.weight.master");
  }
  return SafetensorsFile::read(checkpoint / "model.safetensors").values("fc1.weight");
}

class ResumeInAnotherPrecision : public Resume {};

TEST_F(ResumeInAnotherPrecision, GoesOnFromTheNumbersOfFullPrecision) {
  constexpr PrecisionChoice kAll[] = {PrecisionChoice::fp32, PrecisionChoice::amp_o2,
                                      PrecisionChoice::bf16};
  constexpr Dtype kTypes[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};
  Settings settings = settings_of_resumed("lenet5");
  for (const PrecisionChoice from : kAll) {
    settings.precision.name = from;
    train(settings, choice_name(from));
    const std::filesystem::path last = checkpoint(choice_name(from), 3);
    for (const PrecisionChoice to : kAll) {
      Settings other = going_on(settings, last);
      other.precision.name = to;
      AloneComm comm;
      const Trainer trainer(other, comm);

      std::vector<float> expected = trained_in(last);
      round_in_place(kTypes[static_cast<int>(to)], expected.data(), expected.size());
      const Layout& layout = trainer.work().layout;
      const Segment& segment = layout.segment(layout.find("fc1.weight").value());
      const auto found = trainer.values().view(segment.range);
      EXPECT_TRUE(std::ranges::equal(found, expected))
          << choice_name(from) << " to " << choice_name(to);
      const std::string note =
          fmt::format("from precision {} to {}", choice_name(from), choice_name(to));
      EXPECT_EQ(trainer.plan().find(note) != std::string::npos, from != to);
    }
  }
}

}  // namespace
}  // namespace convoy
