// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/sample_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "convoy/data/synthetic.h"
#include "convoy/loader/loader.h"
#include "tests/allocation_count.h"

namespace convoy {
namespace {

const Normalization kOfImages{.moments = {{.mean = 0.25, .deviation = 0.5}}};
constexpr Shape kEnlarged{3, 24, 24};

Dataset small_images(bool floats = false) {
  return make_synthetic(
             {.shape = {3, 10, 12}, .train_count = 20, .test_count = 1, .floats = floats})
      .train;
}

std::vector<float> written_image(SampleImages& images, std::size_t sample,
                                 const View& view) {
  std::vector<float> numbers(images.shape().size());
  images.write(sample, view, numbers.data());
  return numbers;
}

/// Resized first, then shown in the view.
template <class Number>
std::vector<float> resized_by_hand(std::span<const Number> image, Shape from,
                                   const View& view) {
  Resizer<Number> resizer(from, kEnlarged);
  std::vector<float> numbers(kEnlarged.size());
  PixelWriter(kEnlarged, kOfImages).write(resizer.resize(image), view, numbers.data());
  return numbers;
}

TEST(SampleImages, AreResizedBeforeTheyAreShownInAView) {
  for (const bool floats : {false, true}) {
    const Dataset data = small_images(floats);
    SampleImages images(data, kOfImages, kEnlarged);
    for (const View view : {View{}, View{.down = 3, .right = -2, .mirrored = true}}) {
      const auto expected = data.visit_image(
          5, [&](auto image) { return resized_by_hand(image, data.shape, view); });
      EXPECT_EQ(written_image(images, 5, view), expected);
    }
  }
}

TEST(SampleImages, OfTheSameShapeAreNotResized) {
  const Dataset data = small_images();
  SampleImages images(data, kOfImages, data.shape);
  std::vector<float> expected(data.shape.size());
  PixelWriter(data.shape, kOfImages).write(data.image(3), {}, expected.data());

  EXPECT_EQ(written_image(images, 3, {}), expected);
}

TEST(SampleImages, AllocateNothing) {
  const Dataset data = small_images();
  SampleImages images(data, kOfImages, kEnlarged);
  std::vector<float> numbers(kEnlarged.size());

  const long before = allocation_count();
  for (std::size_t i = 0; i < data.size(); ++i) images.write(i, {}, numbers.data());

  EXPECT_EQ(allocation_count(), before);
}

TEST(SampleImages, AreWhatALoaderGives) {
  const Dataset data = small_images();
  SampleImages images(data, kOfImages, kEnlarged);
  Loader loader(data, {4, 9, 2},
                {.batch_size = 2,
                 .seed = 5,
                 .shuffle = false,
                 .normalization = kOfImages,
                 .image = kEnlarged,
                 .augmentation = Augmentation::crop_flip});
  loader.start_epoch(1);
  std::vector<std::uint32_t> rest{4, 9, 2};
  while (const Batch* batch = loader.next()) {
    ASSERT_EQ(batch->images.size(), batch->count * kEnlarged.size());
    for (std::size_t i = 0; i < batch->count; ++i) {
      const View view = view_of(Augmentation::crop_flip, 5, 1, rest.front());
      EXPECT_THAT(written_image(images, rest.front(), view),
                  testing::ElementsAreArray(
                      batch->images.subspan(i * kEnlarged.size(), kEnlarged.size())));
      rest.erase(rest.begin());
    }
  }
  EXPECT_THAT(rest, testing::IsEmpty());
}

}  // namespace
}  // namespace convoy
