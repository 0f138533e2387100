// SPDX-License-Identifier: Apache-2.0
//
// Law 1 for every registered layer, by the examples that its kind gives: the stage's
// result is what the layer computes in double precision, its gradients are the
// differences of that, with the same bits on all kernels and any number of threads.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "convoy/network/stage_builder.h"
#include "tests/network/double_layer.h"
#include "tests/network/kernel_tables.h"
#include "tests/network/made_up.h"

namespace convoy {
namespace {

struct LawCase {
  LayerExample example;
  std::size_t samples;
};

void PrintTo(const LawCase& of, std::ostream* out) { *out << of.example.name; }

std::vector<LawCase> law_cases() {
  std::vector<LawCase> cases;
  for (const LayerKind* kind : layer_kinds()) {
    for (const LayerExample& example : kind->examples()) {
      for (const std::size_t samples : {1, 5, 17}) cases.push_back({example, samples});
    }
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<LawCase>& info) {
  std::string name = info.param.example.layer.kind().traits().name;
  std::erase(name, '_');
  return name + info.param.example.name + "Of" + std::to_string(info.param.samples);
}

/// [row][feature] to packs, and back.
std::vector<float> packed(const std::vector<double>& numbers, std::size_t samples,
                          Shape shape) {
  const std::size_t features = shape.features();
  std::vector<float> result(packs_of(samples, shape) * pack_floats(shape));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t row = i / features, f = i % features;
    result[(row / kPack * features + f) * kPack + row % kPack] =
        static_cast<float>(numbers[i]);
  }
  return result;
}

std::vector<double> unpacked(const std::vector<float>& packs, std::size_t samples,
                             Shape shape) {
  const std::size_t features = shape.features();
  std::vector<double> result(samples * shape.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t row = i / features, f = i % features;
    result[i] = packs[(row / kPack * features + f) * kPack + row % kPack];
  }
  return result;
}

std::vector<double> made_up_doubles(std::size_t count, std::uint32_t label) {
  const std::vector<float> numbers = made_up_numbers(count, label);
  return {numbers.begin(), numbers.end()};
}

constexpr float kUnwritten = 99;
constexpr RngKey kLawKey = {.seed = 3, .step = 7, .microbatch = 1};
constexpr std::uint32_t kLawStage = 3;

/// The rows that only fill up the last pack have no gradient.
void expect_zeros_beyond(const std::vector<float>& packs, std::size_t samples,
                         Shape shape) {
  const std::size_t rows = samples * static_cast<std::size_t>(shape.rows);
  const std::size_t pack = packs.size() - pack_floats(shape);
  for (std::size_t i = pack; i < packs.size() && rows % kPack > 0; ++i) {
    if (i % kPack < rows % kPack) continue;
    ASSERT_EQ(packs[i], 0.0f) << "element " << i;
  }
}

/// What one stage gave.
struct StageResult {
  std::vector<float> dst;
  std::vector<std::vector<float>> src_gradients, parameter_gradients;

  bool operator==(const StageResult&) const = default;
};

struct RunOptions {
  KernelSet kernels = best_kernel_set();
  int threads = 2;
  bool src_gradients = true;
  bool parameter_gradients = true;
};

class LayerLaw : public testing::TestWithParam<LawCase> {
 protected:
  LayerLaw()
      : layer_(GetParam().example.layer),
        shapes_(GetParam().example.src),
        samples_(GetParam().samples),
        description_(layer_.kind().describe(layer_, {.src = shapes_})) {
    std::uint32_t label = 0;
    for (const Shape shape : shapes_) {
      src_.push_back(made_up_doubles(samples_ * shape.size(), label++));
    }
    for (const TensorSpec& tensor : description_.parameters) {
      parameters_.push_back(made_up_doubles(tensor.size(), label++));
    }
    cotangent_ = made_up_doubles(samples_ * description_.dst.size(), label);
  }

  StageSpec spec() const {
    LayerInfo info{.layer = layer_,
                   .sources = std::vector<LayerIndex>(shapes_.size(), kModelInput),
                   .kind = layer_.kind().traits().name,
                   .name = layer_.name(),
                   .sources_shapes = shapes_,
                   .description = description_};
    return {.name = info.kind,
            .layers = {std::move(info)},
            .sources = std::vector<ActivationIndex>(shapes_.size()),
            .src = shapes_};
  }

  StageResult run(const std::vector<std::vector<double>>& src,
                  const RunOptions& options) const {
    ArenaPlan plan;
    // Planned for more than it gets, as for the last batch of an epoch.
    const StageContext context{.plan = plan,
                               .most_samples = samples_ + 20,
                               .threads = options.threads,
                               .forward = 0,
                               .backward = 1,
                               .training = true,
                               .number = kLawStage};
    const auto stage = layer_.kind().make_stage(spec(), context);
    plan.solve();
    Arena arena(std::move(plan));
    ThreadTeam team(options.threads);
    Pass pass{.team = team,
              .kernels = options.kernels,
              .arena = arena,
              .samples = samples_,
              .key = kLawKey};
    Buffers buffers = fill_buffers(src, options);
    pass.parameters = buffers.parameter_views;
    pass.statistics = buffers.statistic_views;
    stage->forward(pass, buffers.activations, {buffers.result.dst.data(), nullptr});
    std::vector<float> gradient = packed(cotangent_, samples_, description_.dst);
    std::vector<float> dst = buffers.result.dst;  // backward may not change the result
    stage->backward(pass, buffers.activations, {dst.data(), gradient.data()});
    return std::move(buffers.result);
  }

  struct Buffers {
    std::vector<std::vector<float>> src, parameters, statistics;
    StageResult result;
    std::vector<Activation> activations;
    std::vector<ParameterView> parameter_views;
    std::vector<StatisticView> statistic_views;
  };

  Buffers fill_buffers(const std::vector<std::vector<double>>& src,
                       const RunOptions& options) const {
    Buffers all;
    for (std::size_t i = 0; i < src.size(); ++i) {
      all.src.push_back(packed(src[i], samples_, shapes_[i]));
      all.result.src_gradients.emplace_back(all.src.back().size(), kUnwritten);
    }
    for (const std::vector<double>& numbers : parameters_) {
      all.parameters.emplace_back(numbers.begin(), numbers.end());
      all.result.parameter_gradients.emplace_back(numbers.size(), kUnwritten);
    }
    for (const TensorSpec& tensor : description_.statistics) {
      all.statistics.emplace_back(tensor.size());
    }
    all.result.dst.resize(packs_of(samples_, description_.dst) *
                          pack_floats(description_.dst));
    for (std::size_t i = 0; i < src.size(); ++i) {
      float* gradient = all.result.src_gradients[i].data();
      all.activations.push_back(
          {all.src[i].data(), options.src_gradients ? gradient : nullptr});
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      float* gradient = all.result.parameter_gradients[i].data();
      all.parameter_views.push_back(
          {all.parameters[i].data(), options.parameter_gradients ? gradient : nullptr});
    }
    for (std::vector<float>& batch : all.statistics) {
      all.statistic_views.push_back({nullptr, batch.data()});
    }
    return all;
  }

  DoubleBatch expected() const {
    DoubleArguments arguments{.src = {}, .parameters = {}, .dst = description_.dst};
    for (std::size_t i = 0; i < src_.size(); ++i) {
      arguments.src.emplace_back(shapes_[i], samples_).values = src_[i];
    }
    for (const auto& numbers : parameters_)
      arguments.parameters.push_back(numbers.data());
    arguments.drawn = drawn_;
    arguments.key = kLawKey;
    arguments.number = kLawStage;
    return double_layers().at(layer_.kind().traits().name)(layer_, arguments);
  }

  /// The sum of what the layer gives, weighted by the cotangent.
  double weighted() const {
    double sum = 0;
    const std::vector<double> values = expected().values;
    for (std::size_t i = 0; i < values.size(); ++i) sum += cotangent_[i] * values[i];
    return sum;
  }

  double derivative(double& number) {
    constexpr double kStep = 1e-6;
    const double before = number;
    number = before + kStep;
    const double above = weighted();
    number = before - kStep;
    const double below = weighted();
    number = before;
    return (above - below) / (2 * kStep);
  }

  /// Compares some of the gradients with differences.
  void expect_differences(std::vector<double>& numbers, const std::vector<double>& found,
                          const std::string& what) {
    double squares = 0;
    for (const double one : found) squares += one * one;
    const double size = std::sqrt(squares / static_cast<double>(found.size()));
    const std::size_t count = std::min<std::size_t>(numbers.size(), 12);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i =
          k + 1 == count ? numbers.size() - 1 : k * numbers.size() / count;
      const double expected = derivative(numbers[i]);
      EXPECT_NEAR(found[i], expected, 1e-4 * (size + std::abs(expected)) + 1e-6)
          << what << ", element " << i;
    }
  }

  bool is_identity() const { return description_.identity; }

  Layer layer_;
  std::vector<Shape> shapes_;
  std::size_t samples_;
  LayerDescription description_;
  std::vector<std::vector<double>> src_, parameters_;
  std::vector<double> cotangent_;
  std::vector<double> drawn_;
};

TEST_P(LayerLaw, IsWhatItComputesInDoublePrecisionAndItsDifferences) {
  if (is_identity()) return;  // it has no stage
  std::vector<std::vector<double>> ones = src_;
  for (auto& numbers : ones) std::ranges::fill(numbers, 1.0);
  drawn_ = unpacked(run(ones, {}).dst, samples_, description_.dst);
  const std::vector<KernelSet> sets = available_kernel_sets();
  StageResult first;
  for (const KernelSet kernels : sets) {
    SCOPED_TRACE(name_of(kernels));
    const StageResult found = run(src_, {.kernels = kernels});
    if (kernels == sets.front()) first = found;
    EXPECT_TRUE(found == first) << "other bits than " << name_of(sets.front());
    const std::vector<double> values = unpacked(found.dst, samples_, description_.dst);
    const DoubleBatch expected = this->expected();
    ASSERT_EQ(values.size(), expected.values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values[i], expected.values[i],
                  1e-5 * (1 + std::abs(expected.values[i])))
          << "element " << i;
    }
    for (std::size_t i = 0; i < src_.size(); ++i) {
      expect_zeros_beyond(found.src_gradients[i], samples_, shapes_[i]);
      expect_differences(src_[i], unpacked(found.src_gradients[i], samples_, shapes_[i]),
                         "source " + std::to_string(i));
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const std::vector<float>& gradient = found.parameter_gradients[i];
      expect_differences(parameters_[i], {gradient.begin(), gradient.end()},
                         description_.parameters[i].name);
    }
  }
}

TEST_P(LayerLaw, DoesNotDependOnTheNumberOfThreads) {
  if (is_identity()) return;
  const StageResult alone = run(src_, {.threads = 1});

  EXPECT_TRUE(run(src_, {.threads = 2}) == alone);
  EXPECT_TRUE(run(src_, {.threads = 3}) == alone);
}

TEST_P(LayerLaw, ComputesOnlyTheGradientsThatAreAskedFor) {
  if (is_identity()) return;
  const StageResult all = run(src_, {});
  const StageResult frozen = run(src_, {.parameter_gradients = false});
  const StageResult first = run(src_, {.src_gradients = false});

  EXPECT_EQ(frozen.src_gradients, all.src_gradients);
  EXPECT_EQ(first.parameter_gradients, all.parameter_gradients);
}

TEST_P(LayerLaw, IsTheSameFromItsOptions) {
  const LayerOptions options = layer_.kind().options(layer_);
  const Layer again = layer_.kind().from_options(options);

  EXPECT_EQ(again.kind().options(again), options);
  EXPECT_EQ(again.name(), layer_.name());
}

INSTANTIATE_TEST_SUITE_P(Layers, LayerLaw, testing::ValuesIn(law_cases()), case_name);

}  // namespace
}  // namespace convoy
