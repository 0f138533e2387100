// SPDX-License-Identifier: Apache-2.0
//
// Law 1 for every registered layer, by the examples that its kind gives: the stage's
// result is what the layer computes in double precision, its gradients are the
// differences of that, with the same bits on all kernels and any number of threads.

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "convoy/network/stage_builder.h"
#include "convoy/network/storage/widened_stage.h"
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
  Dtype activations = Dtype::fp32;
};

/// A copy of numbers as a type of 16 bits, which replaces them at the end; with fp32, the
/// numbers themselves.
class StoredCopy {
 public:
  StoredCopy(Dtype dtype, std::vector<float>& numbers)
      : dtype_(dtype), numbers_(numbers), halves_(numbers.size()) {
    if (!is_fp32()) narrow(dtype_, numbers_.data(), halves_.data(), halves_.size());
  }
  ~StoredCopy() {
    if (!is_fp32()) widen(dtype_, halves_.data(), numbers_.data(), halves_.size());
  }
  StoredCopy(const StoredCopy&) = delete;
  StoredCopy& operator=(const StoredCopy&) = delete;

  Stored view() {
    return is_fp32() ? Stored(numbers_.data()) : Stored(halves_.data(), dtype_);
  }

 private:
  bool is_fp32() const { return dtype_ == Dtype::fp32; }

  Dtype dtype_;
  std::vector<float>& numbers_;
  std::vector<std::uint16_t> halves_;
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
    std::size_t buffer_floats = 0;
    // Planned for more than it gets, as for the last batch of an epoch.
    const StageContext context{.plan = plan,
                               .most_samples = samples_ + 20,
                               .threads = options.threads,
                               .forward = 0,
                               .backward = 1,
                               .training = true,
                               .number = kLawStage,
                               .activations = options.activations,
                               .buffer_floats = &buffer_floats};
    const auto stage = make_stage(context);
    const SlotId fp32_buffers = plan.reserve(
        buffer_floats * sizeof(float) * static_cast<std::size_t>(options.threads),
        {0, 1});
    plan.solve();
    Arena arena(std::move(plan));
    ThreadTeam team(options.threads);
    Pass pass{.team = team,
              .kernels = options.kernels,
              .arena = arena,
              .samples = samples_,
              .key = kLawKey,
              .activations = options.activations,
              .fp32_buffers = arena.get(fp32_buffers),
              .buffer_floats = buffer_floats};
    Buffers buffers = fill_buffers(src, options);
    pass.parameters = buffers.parameter_views;
    pass.statistics = buffers.statistic_views;
    const Dtype dtype = options.activations;
    {
      StoredCopy result(dtype, buffers.result.dst);
      stage->forward(pass, buffers.activations(), {result.view(), {}});
    }
    std::vector<float> gradient = packed(cotangent_, samples_, description_.dst);
    std::vector<float> dst = buffers.result.dst;  // backward may not change the result
    StoredCopy dst_copy(dtype, dst), gradient_copy(dtype, gradient);
    stage->backward(pass, buffers.activations(), {dst_copy.view(), gradient_copy.view()});
    buffers.copies.clear();
    return std::move(buffers.result);
  }

  /// As a network makes it.
  std::unique_ptr<Stage> make_stage(const StageContext& context) const {
    auto stage = layer_.kind().make_stage(spec(), context);
    const Dtype dtype = context.activations;
    if (dtype == Dtype::fp32 || stage->takes_stored()) return stage;
    std::vector<StoredShape> src;
    for (const Shape shape : shapes_) src.push_back({shape, dtype});
    return widened(context, std::move(stage), src, {description_.dst, dtype});
  }

  struct Buffers {
    std::vector<std::vector<float>> src, parameters, statistics;
    StageResult result;
    std::deque<StoredCopy> copies;  // of each source: values, gradient
    bool src_gradients = true;
    std::vector<ParameterView> parameter_views;
    std::vector<StatisticView> statistic_views;

    std::vector<Activation> activations() {
      std::vector<Activation> views;
      for (std::size_t i = 0; i < copies.size(); i += 2) {
        views.push_back(
            {copies[i].view(), src_gradients ? copies[i + 1].view() : Stored()});
      }
      return views;
    }
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
      all.copies.emplace_back(options.activations, all.src[i]);
      all.copies.emplace_back(options.activations, all.result.src_gradients[i]);
    }
    all.src_gradients = options.src_gradients;
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

/// The numbers as a type of 16 bits has them.
std::vector<double> rounded_to(Dtype dtype, std::vector<double> numbers) {
  for (double& one : numbers) one = round_to(dtype, static_cast<float>(one));
  return numbers;
}

void expect_close(const std::vector<float>& found, const std::vector<float>& expected,
                  double tolerance, const std::string& what) {
  double squares = 0;
  for (const double one : expected) squares += one * one;
  const double size = std::sqrt(squares / static_cast<double>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], tolerance * (size + std::abs(expected[i])) + 1e-6)
        << what << ", element " << i;
  }
}

/// A stage that widens what it reads and rounds what it writes gives what the stage of
/// fp32 gives from the same rounded numbers, with the same bits on all kernels and any
/// number of threads.
TEST_P(LayerLaw, OfSixteenBitsIsThatOfRoundedNumbers) {
  if (is_identity() || samples_ == 5) return;
  const std::vector<double> cotangent = cotangent_;
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
    SCOPED_TRACE(name_of(dtype));
    // Seven fraction bits of bf16, ten of fp16; rounded twice at most.
    const double tolerance = dtype == Dtype::bf16 ? 0x1p-6 : 0x1p-9;
    std::vector<std::vector<double>> src = src_;
    for (auto& numbers : src) numbers = rounded_to(dtype, numbers);
    cotangent_ = rounded_to(dtype, cotangent);
    const StageResult wide = run(src, {});
    const StageResult found = run(src, {.activations = dtype});
    expect_close(found.dst, wide.dst, tolerance, "result");
    for (std::size_t i = 0; i < src.size(); ++i) {
      expect_zeros_beyond(found.src_gradients[i], samples_, shapes_[i]);
      expect_close(found.src_gradients[i], wide.src_gradients[i], tolerance, "source");
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      expect_close(found.parameter_gradients[i], wide.parameter_gradients[i], tolerance,
                   description_.parameters[i].name);
    }
    int threads = 0;
    for (const KernelSet kernels : available_kernel_sets()) {
      const RunOptions other = {
          .kernels = kernels, .threads = ++threads, .activations = dtype};
      EXPECT_TRUE(run(src, other) == found)
          << name_of(kernels) << ", " << threads << " threads";
    }
  }
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
