// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"

namespace convoy {
namespace {

void require(bool holds, InputKind kind, const std::string& where, long long found,
             const std::string& expected) {
  if (holds) return;
  throw InputError(
      kind,
      {.where = where, .found = std::to_string(found), .expected = expected, .hint = ""});
}

/// Invalid options are refused before the thread starts.
void check_options(const LoaderOptions& options, const Dataset& data,
                   const std::vector<std::uint32_t>& samples) {
  require(options.batch_size > 0, InputKind::settings, "train.batch_size", 0,
          "a whole number from 1");
  require(options.ahead > 0, InputKind::settings, "batches prepared ahead", options.ahead,
          "a whole number from 1");
  require(!samples.empty(), InputKind::data, "samples of " + data.name, 0,
          "at least one");
  require(options.normalization.fits(data.shape), InputKind::data,
          "means and deviations for " + data.name,
          static_cast<long long>(options.normalization.moments.size()),
          fmt::format("1, or 1 for each of {} channels", data.shape.channels));
  check_partition_for_microbatches(options.partition, options.batch_size,
                                   options.part.microbatches);
  check(std::ranges::max(samples) < data.size(), "samples are indices into the dataset");
}

SampleOrder order_of(const Dataset& data, std::vector<std::uint32_t> samples,
                     const LoaderOptions& options) {
  check_options(options, data, samples);
  if (options.partition == Partition::iid) {
    return {std::move(samples), options.seed, options.shuffle, options.worker};
  }
  const std::size_t microbatches = options.part.microbatches;
  return {partition_samples(
              data, samples,
              {.kind = options.partition, .parts = microbatches, .seed = options.seed}),
          options.batch_size / microbatches, options.seed, options.shuffle};
}

}  // namespace

Loader::Loader(const Dataset& data, std::vector<std::uint32_t> samples,
               const LoaderOptions& options)
    : part_(options.part),
      order_(order_of(data, std::move(samples), options)),
      batch_size_(std::min(options.batch_size, order_.size())),
      batches_((order_.size() + batch_size_ - 1) / batch_size_),
      filler_(data, options.normalization, options.image.value_or(data.shape),
              options.augmentation, options.seed),
      image_size_(filler_.shape().size()),
      ring_(std::min(static_cast<std::size_t>(options.ahead), batches_) + 1) {
  const std::size_t most = part_.sample_count(batch_size_);
  for (Slot& slot : ring_) {
    slot.images = AlignedBuffer<float>(most * image_size_);
    slot.labels = AlignedBuffer<std::int32_t>(most);
  }
  thread_ = std::thread([this] { prepare(); });
}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    state_.ending = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Loader::start_epoch(int epoch, std::size_t first_batch) {
  check(first_batch <= batches_, "an epoch starts at one of its batches");
  std::unique_lock lock(mutex_);
  stop_filling(lock);
  order_.start_epoch(epoch);
  epoch_ = epoch;
  state_.next = state_.oldest = state_.filled = first_batch;
  state_.end = batches_;
  changed_.notify_all();
}

const Batch* Loader::next() {
  std::unique_lock lock(mutex_);
  state_.oldest = state_.next;
  changed_.notify_all();
  if (state_.next == state_.end) return nullptr;
  if (state_.next == state_.filled) {
    const Stopwatch waiting;
    changed_.wait(lock, [&] { return state_.next < state_.filled; });
    seconds_waited_ += waiting.seconds();
  }
  return &slot(state_.next++).batch;
}

/// Makes the thread end the current epoch, after the batch that it may be filling.
void Loader::stop_filling(std::unique_lock<std::mutex>& lock) {
  state_.end = state_.filled;
  changed_.wait(lock, [&] { return !state_.filling; });
}

bool Loader::may_fill() const {
  return state_.filled < state_.end && state_.filled - state_.oldest < ring_.size();
}

/// The loop of the thread.
void Loader::prepare() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return state_.ending || may_fill(); });
    if (state_.ending) return;
    state_.filling = true;
    const std::size_t number = state_.filled;
    lock.unlock();
    fill(number);
    lock.lock();
    state_.filling = false;
    ++state_.filled;
    changed_.notify_all();
  }
}

void Loader::fill(std::size_t number) {
  Slot& slot = this->slot(number);
  const std::size_t begin = number * batch_size_;
  const std::size_t global_count = std::min(batch_size_, order_.size() - begin);
  std::size_t count = 0;
  for (std::size_t i = 0; i < part_.count(); ++i) {
    const Range own = part_.samples_of(part_.number(i), global_count);
    const auto samples = order_.at({begin + own.begin, begin + own.end});
    filler_.fill(epoch_, samples, slot.images.span().subspan(count * image_size_),
                 slot.labels.span().subspan(count));
    count += samples.size();
  }
  slot.batch = {slot.images.span().first(count * image_size_),
                slot.labels.span().first(count), count, global_count};
}

}  // namespace convoy
