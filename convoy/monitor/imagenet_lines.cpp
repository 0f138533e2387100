// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/imagenet_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace convoy {
namespace {

std::string percent_meter(std::string_view name, double batch, double so_far) {
  return fmt::format("{} {:6.2f} ({:6.2f})", name, 100 * batch, 100 * so_far);
}

}  // namespace

std::string batch_line(const BatchPlace& place, const LossSum& batch,
                       const LossSum& so_far) {
  const std::string all = std::to_string(place.batches);
  return fmt::format("Epoch: [{}][{:>{}}/{}]\tLoss {:.4e} ({:.4e})\t{}\t{}",
                     std::max(0, place.epoch - 1), place.batch, all.size(), all,
                     batch.mean_loss(), so_far.mean_loss(),
                     percent_meter("Acc@1", batch.accuracy(), so_far.accuracy()),
                     percent_meter("Acc@5", batch.top_accuracy(), so_far.top_accuracy()));
}

std::string epoch_accuracy_line(std::string_view half, const LossSum& sum) {
  return fmt::format(" * {} Acc@1 {:.3f} {} Acc@5 {:.3f}", half, 100 * sum.accuracy(),
                     half, 100 * sum.top_accuracy());
}

std::string completion_line(double seconds) {
  constexpr std::int64_t kSecond = 1'000'000;
  const auto all = static_cast<std::int64_t>(std::llround(seconds * kSecond));
  const std::int64_t whole = all / kSecond, days = whole / 86'400;
  const std::string before =
      days == 0 ? "" : fmt::format("{} day{}, ", days, days == 1 ? "" : "s");
  return fmt::format("Training complete in: {}{}:{:02}:{:02}.{:06}", before,
                     whole / 3600 % 24, whole / 60 % 60, whole % 60, all % kSecond);
}

std::vector<LossSum> shown_batches(std::span<const LossSum> batches,
                                   std::size_t batch_size) {
  constexpr std::size_t kShown = 64;
  const std::size_t joined = std::max<std::size_t>(1, kShown / batch_size);
  std::vector<LossSum> shown((batches.size() + joined - 1) / joined);
  for (std::size_t i = 0; i < batches.size(); ++i) shown[i / joined] += batches[i];
  return shown;
}

}  // namespace convoy
