// SPDX-License-Identifier: Apache-2.0

#include "convoy/setup/data_setup.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/data/catalog.h"
#include "convoy/loader/folds.h"
#include "convoy/loader/split_anew.h"

namespace convoy {
namespace {

DataOptions data_options(const Settings& settings) {
  const DataSettings::Synthetic& synthetic = settings.data.synthetic;
  DataOptions options{.name = settings.data.name, .root = settings.data.root};
  options.synthetic.shape = {synthetic.channels, synthetic.height, synthetic.width};
  options.synthetic.classes = synthetic.classes;
  options.synthetic.train_count = synthetic.train_count;
  options.synthetic.test_count = synthetic.test_count;
  options.synthetic.noise = synthetic.noise;
  options.synthetic.seed = settings.train.seed;
  options.synthetic.floats = synthetic.dtype == PixelChoice::float32;
  options.images = {.crop = settings.data.crop,
                    .short_side = settings.data.short_side,
                    .decoding = settings.data.decode == DecodeChoice::fast
                                    ? Decoding::fast
                                    : Decoding::exact,
                    .skip_damaged = settings.data.corrupt == CorruptChoice::skip};
  options.tar = {.train = settings.data.train,
                 .val = settings.data.val,
                 .class_names = settings.data.class_names,
                 .cache_bytes = static_cast<std::uint64_t>(settings.data.cache_gb * 1e9)};
  return options;
}

[[noreturn]] void refuse_setting(const std::string& where, const std::string& found,
                                 const std::string& expected,
                                 const std::string& hint = "") {
  throw InputError(InputKind::settings,
                   {.where = where, .found = found, .expected = expected, .hint = hint});
}

void check_color_jitter(const TrainSettings& train) {
  const Numbers& jitter = train.color_jitter;
  if (jitter.empty()) return;
  if (!is_of_files(augmentation_of(train.augment))) {
    refuse_setting("train.color_jitter", "factors",
                   "none with train.augment=" + choice_name(train.augment),
                   "train.augment=imagenet");
  }
  if (jitter.size() != 4 || jitter[3] > 0.5) {
    refuse_setting("train.color_jitter", fmt::format("{}", fmt::join(jitter, ",")),
                   "four numbers, of which the last, of hues, is at most 0.5");
  }
}

/// Refuses settings that need images in memory, or images that are files.
void check_image_settings(const Settings& settings) {
  const DataSettings& data = settings.data;
  const bool are_files = find_source(data.name).is_of_files();
  if (is_of_files(augmentation_of(settings.train.augment)) && !are_files) {
    refuse_setting("train.augment", choice_name(settings.train.augment),
                   "none, crop_flip or crop_alternate with data=" + data.name);
  }
  check_color_jitter(settings.train);
  if (!are_files) return;
  if (data.normalize != NormalizeChoice::fixed) {
    refuse_setting(
        "data.normalize", choice_name(data.normalize),
        "fixed with data=" + data.name + ", whose files are not all decoded first",
        "data.normalize=fixed data.mean=0.485,0.456,0.406 "
        "data.std=0.229,0.224,0.225");
  }
  const StrategyChoice strategy = settings.strategy.name;
  const bool is_served =
      strategy == StrategyChoice::ps_sync || strategy == StrategyChoice::ps_async;
  if (data.corrupt == CorruptChoice::skip && is_served) {
    refuse_setting("data.corrupt", "skip",
                   "refuse with strategy=" + choice_name(strategy));
  }
  if (data.short_side < data.crop) {
    refuse_setting("data.short_side", std::to_string(data.short_side),
                   fmt::format("at least data.crop, {}", data.crop));
  }
  if (data.resize != 0) {
    refuse_setting("data.resize", std::to_string(data.resize), "0 with data=" + data.name,
                   "data.crop is the size of its images");
  }
  if (!data.split.empty()) {
    refuse_setting("data.split", "sizes of sets", "none with data=" + data.name,
                   "data.val_fraction holds out some of train");
  }
}

SplitSizes split_sizes(const DataSettings& data) {
  const auto size = [&](std::size_t i) {
    return static_cast<std::size_t>(data.split[i]);
  };
  return {.train = size(0), .validation = size(1), .test = size(2)};
}

/// Returns the numbers of the settings, checked against the images.
Normalization given_normalization(const DataSettings& settings, const Dataset& data) {
  Normalization normalization{.moments = {}};
  for (std::size_t c = 0; c < settings.mean.size(); ++c) {
    normalization.moments.push_back({settings.mean[c], settings.std.at(c)});
  }
  if (normalization.fits(data.shape)) return normalization;
  throw InputError(InputKind::settings,
                   {.where = "data.mean and data.std",
                    .found = fmt::format("{} numbers", settings.mean.size()),
                    .expected = fmt::format("1 number, or {}, the channels of {}",
                                            data.shape.channels, data.name),
                    .hint = ""});
}

FoldBy fold_kind(FoldChoice choice) {
  switch (choice) {
    case FoldChoice::shuffled:
      return FoldBy::shuffled;
    case FoldChoice::stratified:
      return FoldBy::stratified;
    case FoldChoice::order:
      break;
  }
  return FoldBy::order;
}

}  // namespace

Augmentation augmentation_of(AugmentChoice choice) {
  switch (choice) {
    case AugmentChoice::crop_flip:
      return Augmentation::crop_flip;
    case AugmentChoice::crop_alternate:
      return Augmentation::crop_alternate;
    case AugmentChoice::imagenet:
      return Augmentation::imagenet;
    case AugmentChoice::imagenet_crop:
      return Augmentation::imagenet_crop;
    case AugmentChoice::imagenet_strong:
      return Augmentation::imagenet_strong;
    case AugmentChoice::none:
      break;
  }
  return Augmentation::none;
}

TransformOptions transform_options(const TrainSettings& train) {
  TransformOptions options;
  if (const Numbers& jitter = train.color_jitter; !jitter.empty()) {
    options.jitter = {jitter[0], jitter[1], jitter[2], jitter[3]};
  }
  if (train.augment != AugmentChoice::imagenet_strong) return options;
  options.rand_augment = {train.rand_augment_ops, train.rand_augment_magnitude};
  options.erase_probability = train.random_erase;
  options.mix = {train.mixup_alpha, train.cutmix_alpha};
  return options;
}

Partition partition_kind(PartitionChoice choice) {
  switch (choice) {
    case PartitionChoice::shared:
      return Partition::shared;
    case PartitionChoice::labels:
      return Partition::labels;
    case PartitionChoice::labels_unscaled:
      return Partition::labels_unscaled;
    case PartitionChoice::iid:
      break;
  }
  return Partition::iid;
}

Shape input_shape(const Settings& settings, const Dataset& data) {
  if (settings.data.resize == 0) return data.shape;
  return {data.shape.channels, settings.data.resize, settings.data.resize};
}

Normalization choose_normalization(const DataSettings& settings, const Dataset& data) {
  switch (settings.normalize) {
    case NormalizeChoice::fixed:
      return given_normalization(settings, data);
    case NormalizeChoice::channel:
      return measure_channels(data);
    case NormalizeChoice::all:
      break;
  }
  return measure(data);
}

DataPair load_whole_data(const Settings& settings) {
  return load_data(data_options(settings));
}

DataPair load_data_pair(const Settings& settings) {
  check_image_settings(settings);
  DataPair data = load_whole_data(settings);
  if (settings.data.split.empty()) return data;
  return split_anew(data, split_sizes(settings.data), settings.data.split_seed);
}

Split split_of(const Settings& settings, const Dataset& train) {
  if (!settings.data.split.empty()) return in_order(split_sizes(settings.data));
  Split split =
      split_samples(train.size(), {.train_fraction = settings.data.train_fraction,
                                   .val_fraction = settings.data.val_fraction,
                                   .seed = settings.train.seed});
  if (settings.data.folds == 0) return split;
  return split_by_fold(train, split.train,
                       {.folds = settings.data.folds,
                        .fold = settings.data.fold,
                        .by = fold_kind(settings.data.fold_by),
                        .seed = settings.train.seed});
}

Parts partition_of(const Settings& settings, const Dataset& train, const Split& samples,
                   int workers) {
  return partition_samples(train, samples.train,
                           {.kind = partition_kind(settings.data.partition),
                            .parts = static_cast<std::size_t>(workers),
                            .seed = settings.train.seed});
}

}  // namespace convoy
