// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/imagenet_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convoy {
namespace {

TEST(ImagenetLines, AreThoseOfTheExample) {
  // 52 and 85 of 128 samples, and as many per mille of an epoch as the published log has.
  const LossSum batch{.loss = 2.6922 * 128, .correct = 52, .samples = 128, .in_top = 85};
  const LossSum so_far{.loss = 31857, .correct = 3363, .samples = 10000, .in_top = 5794};

  EXPECT_EQ(batch_line({2, 4999, 5005}, batch, so_far),
            "Epoch: [1][4999/5005]\tLoss 2.6922e+00 (3.1857e+00)\t"
            "Acc@1  40.62 ( 33.63)\tAcc@5  66.41 ( 57.94)");
  EXPECT_EQ(epoch_accuracy_line(
                "Val", {.loss = 0, .correct = 24545, .samples = 50000, .in_top = 36931}),
            " * Val Acc@1 49.090 Val Acc@5 73.862");
}

TEST(ImagenetLines, AlignTheNumberOfABatch) {
  const std::string line = batch_line({6, 99, 391}, {.samples = 1}, {.samples = 1});

  EXPECT_THAT(line, testing::StartsWith("Epoch: [5][ 99/391]\tLoss 0.0000e+00"));
}

TEST(ImagenetLines, TellATimeAsPythonDoes) {
  EXPECT_EQ(completion_line(5440.328945), "Training complete in: 1:30:40.328945");
  EXPECT_EQ(completion_line(86400 + 61.5), "Training complete in: 1 day, 0:01:01.500000");
  EXPECT_EQ(completion_line(3 * 86400), "Training complete in: 3 days, 0:00:00.000000");
}

TEST(ImagenetLines, ShowEvaluationsInBatchesOf64) {
  const std::vector<LossSum> small(10, {.loss = 1, .correct = 3, .samples = 16});
  const std::vector<LossSum> shown = shown_batches(small, 16);

  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown[0], (LossSum{.loss = 4, .correct = 12, .samples = 64}));
  EXPECT_EQ(shown[2], (LossSum{.loss = 2, .correct = 6, .samples = 32}));
  EXPECT_EQ(shown_batches(small, 48).size(), 10u);
  EXPECT_EQ(shown_batches(small, 256).size(), 10u);
  // The evaluation of ImageNet: 3,125 batches of 16 images at 224.
  EXPECT_EQ(shown_batches(std::vector<LossSum>(3125), 16).size(), 782u);
}

}  // namespace
}  // namespace convoy
