// SPDX-License-Identifier: Apache-2.0
//
// WinogradStage against a plain convolution in double precision: forward, both gradients
// and the bias's, over shapes that fit no tile, pack, slab or chunk.

#include "convoy/network/winograd_stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "convoy/network/pointwise/pointwise_stage.h"
#include "tests/network/kernel_tables.h"
#include "tests/network/made_up.h"

namespace convoy {
namespace {

struct StageCase {
  WinogradForm form;
  Shape src;
  int channels;
  int padding;
  std::size_t batch;
  bool relu = false, bias = true;
};

void PrintTo(const StageCase& of, std::ostream* out) {
  *out << "form " << static_cast<int>(of.form) << ", " << of.src.channels << " x "
       << of.src.height << " x " << of.src.width << " to " << of.channels << ", padding "
       << of.padding << ", batch " << of.batch << (of.relu ? ", relu" : "")
       << (of.bias ? "" : ", no bias");
}

/// What a stage gives: dst and src_gradient of the real images, [image][element].
struct Found {
  Numbers dst, src_gradient, weights, bias;
  bool operator==(const Found&) const = default;
};

class StageTrial {
 public:
  explicit StageTrial(const StageCase& of)
      : case_(of),
        layer_{"conv", of.channels, size_of(of.form).taps, size_of(of.form).stride,
               of.padding},
        layout_(build_layout({"one", of.src, {layer_}})),
        values_(made_up_values(layout_)),
        dst_(output_shape(layer_, of.src)),
        images_(made_up_numbers(of.batch * of.src.size(), 1)),
        gradient_(made_up_numbers(of.batch * dst_.size(), 2)) {}

  /// By a WinogradStage, or a PointwiseStage.
  Found run(KernelSet kernels, int threads, bool pointwise = false) const;
  Found expected() const;

 private:
  template <class Use>
  void for_each_tap(const Use& use) const;

  StageCase case_;
  Convolution layer_;
  Layout layout_;
  FlatBuffer values_;
  Shape dst_;
  Numbers images_, gradient_;
};

/// [image][element] to packs, others zero, and back.
void pack(const Numbers& from, std::size_t features, float* to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t n = i / features, f = i % features;
    to[(n / kPack * features + f) * kPack + n % kPack] = from[i];
  }
}
Numbers unpack(const float* from, std::size_t features, std::size_t batch) {
  Numbers to(batch * features);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t n = i / features, f = i % features;
    to[i] = from[(n / kPack * features + f) * kPack + n % kPack];
  }
  return to;
}

Found StageTrial::run(KernelSet kernels, int threads, bool pointwise) const {
  ThreadTeam team(threads);
  ArenaPlan plan;
  const std::size_t packs = round_up(case_.batch, kPack) / kPack;
  const StageContext context{.plan = plan,
                             .most_samples = (packs + 1) * kPack,
                             .threads = threads,
                             .forward = 1,
                             .backward = 2,
                             .training = true,
                             .number = 0};
  Convolution layer = layer_;  // its layout has a bias either way
  layer.bias = case_.bias;
  std::unique_ptr<Stage> stage;
  if (pointwise) {
    stage = std::make_unique<PointwiseStage>(context, layer, case_.src);
  } else {
    stage = std::make_unique<WinogradStage>(
        context, WinogradOptions{layer, case_.form, case_.relu}, case_.src);
  }
  const auto reserve = [&](Shape shape) {
    return plan.reserve(packs * pack_floats(shape) * sizeof(float), {0, 3});
  };
  const SlotId slots[] = {reserve(case_.src), reserve(case_.src), reserve(dst_),
                          reserve(dst_)};
  plan.solve();
  Arena arena(std::move(plan));
  FlatBuffer gradients(layout_);
  std::vector<ParameterView> parameters;
  for (const Segment& segment : layout_.segments()) {
    parameters.push_back(
        {values_.data() + segment.range.begin, gradients.data() + segment.range.begin});
  }
  const Pass pass{.team = team,
                  .kernels = kernels,
                  .arena = arena,
                  .samples = packs * kPack,
                  .key = {},
                  .parameters = parameters};
  const Activation src = {arena.get(slots[0]), arena.get(slots[1])};
  const Activation dst = {arena.get(slots[2]), arena.get(slots[3])};
  pack(images_, case_.src.size(), src.values);
  pack(gradient_, dst_.size(), dst.gradient);
  std::fill_n(static_cast<float*>(src.gradient), packs * pack_floats(case_.src),
              kUntouched);
  std::ranges::fill(gradients.view(layout_.segments()[0].range), kUntouched);

  stage->forward(pass, {&src, 1}, dst);
  stage->backward(pass, {&src, 1}, dst);

  const auto copy = [&](std::size_t segment) {
    const auto view = gradients.view(layout_.segments()[segment].range);
    return Numbers(view.begin(), view.end());
  };
  return {unpack(dst.values, dst_.size(), case_.batch),
          unpack(src.gradient, case_.src.size(), case_.batch), copy(0), copy(1)};
}

/// Calls use(element of dst, of src, of the weights) for every product of one image.
template <class Use>
void StageTrial::for_each_tap(const Use& use) const {
  for (int k = 0; k < dst_.channels; ++k) {
    for (int y = 0; y < dst_.height; ++y) {
      for (int x = 0; x < dst_.width; ++x) {
        for (int c = 0; c < case_.src.channels; ++c) {
          for (int tap = 0; tap < static_cast<int>(layer_.kernel.pixels()); ++tap) {
            const int from_y =
                y * layer_.stride.height - case_.padding + tap / layer_.kernel.width;
            const int from_x =
                x * layer_.stride.width - case_.padding + tap % layer_.kernel.width;
            if (from_y < 0 || from_y >= case_.src.height || from_x < 0 ||
                from_x >= case_.src.width)
              continue;
            const std::size_t dst =
                (static_cast<std::size_t>(k) * dst_.height + y) * dst_.width + x;
            const std::size_t src =
                (static_cast<std::size_t>(c) * case_.src.height + from_y) *
                    case_.src.width +
                from_x;
            use(dst, src,
                (static_cast<std::size_t>(k) * case_.src.channels + c) *
                        layer_.kernel.pixels() +
                    tap);
          }
        }
      }
    }
  }
}

Found StageTrial::expected() const {
  const float* weights = values_.data() + layout_.segments()[0].range.begin;
  const float* bias = values_.data() + layout_.segments()[1].range.begin;
  const std::size_t plane = dst_.pixels();
  std::vector<double> weight_sums(layout_.segments()[0].range.size());
  std::vector<double> bias_sums(static_cast<std::size_t>(dst_.channels));
  Found result;
  for (std::size_t n = 0; n < case_.batch; ++n) {
    const float* image = images_.data() + n * case_.src.size();
    std::vector<double> dst(dst_.size()), src_gradient(case_.src.size());
    for (std::size_t i = 0; i < dst.size() && case_.bias; ++i) dst[i] = bias[i / plane];
    for_each_tap([&](std::size_t d, std::size_t s, std::size_t w) {
      dst[d] += static_cast<double>(weights[w]) * image[s];
    });
    std::vector<double> gradient(
        gradient_.begin() + static_cast<long>(n * dst_.size()),
        gradient_.begin() + static_cast<long>((n + 1) * dst_.size()));
    for (std::size_t i = 0; i < dst.size() && case_.relu; ++i) {
      if (dst[i] <= 0) gradient[i] = dst[i] = 0;
    }
    for (std::size_t i = 0; i < dst.size(); ++i) bias_sums[i / plane] += gradient[i];
    for_each_tap([&](std::size_t d, std::size_t s, std::size_t w) {
      src_gradient[s] += weights[w] * gradient[d];
      weight_sums[w] += image[s] * gradient[d];
    });
    result.dst.insert(result.dst.end(), dst.begin(), dst.end());
    result.src_gradient.insert(result.src_gradient.end(), src_gradient.begin(),
                               src_gradient.end());
  }
  result.weights.assign(weight_sums.begin(), weight_sums.end());
  if (!case_.bias) std::ranges::fill(bias_sums, 0);
  result.bias.assign(bias_sums.begin(), bias_sums.end());
  return result;
}

struct Error {
  double rms, largest;  // relative to the root mean square of what is expected
};

Error error_of(const Numbers& found, const Numbers& expected) {
  double squares = 0, errors = 0, largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(static_cast<double>(found[i]) - expected[i]);
    squares += static_cast<double>(expected[i]) * expected[i];
    errors += error * error;
    largest = std::max(largest, std::isnan(error) ? 1e9 : error);
  }
  const double size = std::sqrt(squares / static_cast<double>(expected.size()));
  return {std::sqrt(errors / static_cast<double>(expected.size())) / (size + 1e-30),
          largest / (size + 1e-30)};
}

std::vector<StageCase> cases() {
  using enum WinogradForm;
  std::vector<StageCase> all = {
      {z1, {5, 1, 1}, 7, 1, 3},
      {z1, {17, 1, 1}, 33, 1, 37, true},
      {z1, {130, 1, 1}, 30, 1, 300},
      {z2, {1, 2, 2}, 1, 1, 1},
      {z2, {19, 2, 2}, 26, 1, 70, true},
      {z2, {140, 2, 2}, 131, 1, 5},
      {z2, {33, 2, 2}, 31, 1, 300},
      {s1, {19, 2, 2}, 26, 1, 70, true},
      {s1, {3, 2, 2}, 5, 1, 3},
      {s1, {130, 2, 2}, 33, 1, 5},
      {p1, {17, 8, 8}, 13, 0, 65, true},
      {p1, {33, 1, 1}, 140, 0, 5},
      {p1, {3, 35, 13}, 33, 0, 33, false, false},
      {p2, {17, 8, 7}, 13, 0, 65, true},
      {p2, {130, 2, 2}, 33, 0, 70},
      {p2, {2, 35, 34}, 3, 0, 17},
  };
  for (const WinogradForm form : {s4, s2}) {
    const std::vector<StageCase> more = {
        {form, {17, 8, 8}, 13, 1, 65, true}, {form, {9, 7, 11}, 25, 2, 16},
        {form, {8, 9, 6}, 18, 0, 50, true},  {form, {130, 4, 4}, 26, 1, 3},
        {form, {3, 16, 13}, 33, 1, 33},      {form, {2, 35, 34}, 3, 1, 17, false, false},
        {form, {5, 1, 9}, 3, 1, 4},          {form, {20, 31, 17}, 30, 1, 33},
    };
    all.insert(all.end(), more.begin(), more.end());
  }
  for (const WinogradForm form : {f4, f2}) {
    const std::vector<StageCase> more = {
        {form, {1, 1, 1}, 1, 1, 1},
        {form, {1, 1, 1}, 2, 2, 5},
        {form, {3, 4, 4}, 5, 1, 17, true},
        {form, {16, 4, 4}, 24, 1, 64, true},
        {form, {33, 4, 4}, 31, 1, 33, false, false},
        {form, {7, 3, 3}, 6, 0, 20},
        {form, {6, 3, 5}, 5, 2, 70, true},
        {form, {5, 1, 9}, 3, 1, 4},
        {form, {4, 35, 1}, 3, 1, 19},
        {form, {2, 35, 34}, 3, 1, 17},
        {form, {17, 8, 8}, 13, 1, 65, true},
        {form, {9, 7, 11}, 25, 2, 16},
        {form, {8, 9, 6}, 18, 0, 50, true},
        {form, {130, 4, 4}, 26, 1, 3},
        {form, {20, 5, 4}, 270, 1, 3},
        {form, {3, 16, 13}, 33, 1, 33},
    };
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

class WinogradStageOf : public testing::TestWithParam<StageCase> {
 protected:
  /// Found over these shapes, relative to the root mean square: rms 3.1e-6 with f4 and
  /// 2.5e-6 with f2 (sums of the weights over 20,000 pixels), largest 1.3e-5 and 7e-6;
  /// with s4 8.4e-7 and 5.3e-6.
  void expect_close(const Numbers& found, const Numbers& expected, const char* what) {
    const Error error = error_of(found, expected);
    const bool f4 = GetParam().form == WinogradForm::f4;
    EXPECT_LT(error.rms, f4 ? 1e-5 : 6e-6) << what;
    EXPECT_LT(error.largest, f4 ? 5e-5 : 3e-5) << what;
    worst_.rms = std::max(worst_.rms, error.rms);
    worst_.largest = std::max(worst_.largest, error.largest);
  }
  void expect_close(const Found& found, const Found& expected) {
    expect_close(found.dst, expected.dst, "dst");
    expect_close(found.src_gradient, expected.src_gradient, "src_gradient");
    expect_close(found.weights, expected.weights, "weights");
    expect_close(found.bias, expected.bias, "bias");
    RecordProperty("worst_rms", testing::PrintToString(worst_.rms));
    RecordProperty("worst_error", testing::PrintToString(worst_.largest));
  }

  Error worst_{0, 0};
};

TEST_P(WinogradStageOf, MatchesAPlainConvolution) {
  const StageTrial trial(GetParam());

  expect_close(trial.run(best_kernel_set(), 2), trial.expected());
}

TEST_P(WinogradStageOf, GivesTheSameBitsOnAnyNumberOfThreads) {
  const StageTrial trial(GetParam());
  const Found alone = trial.run(best_kernel_set(), 1);

  EXPECT_TRUE(trial.run(best_kernel_set(), 2) == alone);
  EXPECT_TRUE(trial.run(best_kernel_set(), 3) == alone);
}

INSTANTIATE_TEST_SUITE_P(Shapes, WinogradStageOf, testing::ValuesIn(cases()));

// The plain kernels are slow: only small shapes run on them.
class PlainWinogradStageOf : public WinogradStageOf {};

TEST_P(PlainWinogradStageOf, MatchesAPlainConvolution) {
  const StageTrial trial(GetParam());

  expect_close(trial.run(KernelSet::reference, 1), trial.expected());
}

std::vector<StageCase> small_cases() {
  std::vector<StageCase> small = cases();
  std::erase_if(small,
                [](const StageCase& of) { return of.src.size() * of.batch > 1500; });
  return small;
}

INSTANTIATE_TEST_SUITE_P(Shapes, PlainWinogradStageOf, testing::ValuesIn(small_cases()));

/// Few channels and many; pixels of several packs in a chunk, and several chunks in a
/// pack; results that are streamed.
std::vector<StageCase> pointwise_cases() {
  constexpr WinogradForm kForm = WinogradForm::p1;
  return {{kForm, {3, 35, 13}, 33, 0, 33, false, false},
          {kForm, {33, 5, 7}, 17, 0, 50, false, false},
          {kForm, {24, 7, 7}, 144, 0, 16, false, false},
          {kForm, {1, 9, 3}, 1, 0, 70, false, false},
          {kForm, {130, 3, 3}, 150, 0, 20, false, false},
          {kForm, {140, 6, 5}, 300, 0, 17, false, false},
          {kForm, {300, 6, 5}, 20, 0, 17, false, false},
          {kForm, {8, 112, 112}, 24, 0, 16, false, false},
          {kForm, {24, 112, 112}, 8, 0, 16, false, false}};
}

class PointwiseStageOf : public testing::TestWithParam<StageCase> {};

TEST_P(PointwiseStageOf, GivesTheBitsOfAWinogradStageOnAnyNumberOfThreads) {
  const StageTrial trial(GetParam());
  const Found expected = trial.run(best_kernel_set(), 2);

  for (const int threads : {1, 2, 3}) {
    EXPECT_TRUE(trial.run(best_kernel_set(), threads, /*pointwise=*/true) == expected)
        << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, PointwiseStageOf, testing::ValuesIn(pointwise_cases()));

TEST(StagesWithBf16Products, HaveTheSameBitsWhereTheyHaveASingleTap) {
  const StageTrial trial({WinogradForm::p1, {33, 5, 7}, 17, 0, 20, false, false});
  const Found expected = trial.run(KernelSet::reference_bf16, 2);

  EXPECT_TRUE(trial.run(KernelSet::reference_bf16, 1, /*pointwise=*/true) == expected);
  EXPECT_FALSE(trial.run(KernelSet::reference, 1, /*pointwise=*/true) == expected);
}

TEST(StagesWithBf16Products, KeepThoseOfFp32WhereNumbersAreTransformed) {
  const StageTrial trial({WinogradForm::f4, {17, 8, 8}, 16, 1, 16});

  EXPECT_TRUE(trial.run(KernelSet::reference_bf16, 2) ==
              trial.run(KernelSet::reference, 2));
}

}  // namespace
}  // namespace convoy
