// SPDX-License-Identifier: Apache-2.0

#include "convoy/evaluate/evaluation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

bool has_top(const EvaluationResult& result) {
  return static_cast<std::size_t>(result.matrix.size()) > kTop;
}

std::string top_line(std::size_t top, std::uint64_t correct, std::uint64_t total) {
  return fmt::format("top-{} accuracy {:.3f} ({}/{})\n", top, share(correct, total),
                     correct, total);
}

json top_json(std::uint64_t correct, std::uint64_t total) {
  return {{"accuracy", share(correct, total)}, {"correct", correct}};
}

/// What must be equal on all ranks.
struct Evaluated {
  std::uint64_t samples = 0;
  std::array<char, 64> weights{};

  bool operator==(const Evaluated&) const = default;
};

std::string describe(const Evaluated& evaluated) {
  return fmt::format("{} samples, weights {:.12}...", evaluated.samples,
                     std::string_view(evaluated.weights.data(), 64));
}

}  // namespace

std::string evaluation_text(const EvaluationResult& result) {
  const LossSum& sum = result.sum;
  std::string text = classification_report(result.matrix) + "\n";
  text += top_line(1, sum.correct, sum.samples);
  if (has_top(result)) text += top_line(kTop, sum.in_top, sum.samples);
  if (result.left_out > 0) {
    text += fmt::format("{} samples left out, whose files cannot be decoded\n",
                        result.left_out);
  }
  return text + "\n" + confusion_table(result.matrix) + "\n" +
         confused_pairs_table(result.matrix);
}

std::string result_line(const EvaluationResult& result, std::string_view split) {
  const LossSum& sum = result.sum;
  return fmt::format("{} accuracy {:.2f} % ({}/{}), loss {:.4f}", split,
                     100 * sum.accuracy(), sum.correct, sum.samples, sum.mean_loss());
}

std::string shares_text(const EvaluationResult& result) {
  if (result.shares.size() < 2) return "";
  std::string text;
  LossSum whole;
  for (std::size_t rank = 0; rank < result.shares.size(); ++rank) {
    const LossSum& of_rank = result.shares[rank];
    text += fmt::format("rank {}: {} of {} samples correct\n", rank, of_rank.correct,
                        of_rank.samples);
    whole += of_rank;
  }
  check(
      whole.samples == result.matrix.total() && whole.correct == result.matrix.correct(),
      "the ranks' samples add up to the set");
  return text + fmt::format("all {} ranks agree: {} of {} samples, the same weights\n",
                            result.shares.size(), whole.correct, whole.samples);
}

nlohmann::ordered_json evaluation_json(const EvaluationResult& result) {
  const LossSum& sum = result.sum;
  json object = classification_json(result.matrix);
  object["loss"] = sum.mean_loss();
  object["top1"] = top_json(sum.correct, sum.samples);
  if (has_top(result)) object["top5"] = top_json(sum.in_top, sum.samples);
  if (result.left_out > 0) object["left_out"] = result.left_out;
  object["ranks"] = json::array();
  for (const LossSum& of_rank : result.shares) {
    object["ranks"].push_back(
        {{"samples", of_rank.samples}, {"correct", of_rank.correct}});
  }
  return object;
}

std::string predictions_csv(const EvaluationResult& result) {
  std::string text = "index,true,predicted,probability\n";
  for (const Prediction& one : result.predictions) {
    text += fmt::format("{},{},{},{:.6f}\n", one.sample, one.truth, one.predicted,
                        one.probability);
  }
  return text;
}

void expect_same_on_all_ranks(Comm& comm, std::uint64_t samples,
                              std::string_view weights_sha256) {
  Evaluated own{.samples = samples};
  check(weights_sha256.size() == own.weights.size(), "SHA-256 has 64 digits");
  std::ranges::copy(weights_sha256, own.weights.begin());
  std::vector<Evaluated> all(static_cast<std::size_t>(comm.ranks()));
  comm.all_gather(std::as_bytes(std::span(&own, 1)),
                  std::as_writable_bytes(std::span(all)));
  const auto other =
      std::ranges::find_if(all, [&](const Evaluated& one) { return one != all.front(); });
  if (other == all.end()) return;
  throw InputError(InputKind::data,
                   {.where = fmt::format("rank {}", other - all.begin()),
                    .found = describe(*other),
                    .expected = fmt::format("{}, as rank 0 has", describe(all.front())),
                    .hint = "checkpoint and data have to be the same on all machines"});
}

}  // namespace convoy
