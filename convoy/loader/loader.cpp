// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
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

/// Files are decoded in milliseconds each: threads share a batch.
constexpr std::size_t kFilesInPiece = 4;

/// The processor time of this thread.
double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::size_t thread_count(const Dataset& data, const LoaderOptions& options) {
  if (!data.files) return 1;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  return options.threads > 0 ? static_cast<std::size_t>(options.threads) : cores;
}

}  // namespace

Loader::Loader(const Dataset& data, std::vector<std::uint32_t> samples,
               const LoaderOptions& options)
    : part_(options.part),
      order_(order_of(data, std::move(samples), options)),
      batch_size_(std::min(options.batch_size, order_.size())),
      batches_((order_.size() + batch_size_ - 1) / batch_size_),
      fillers_(
          thread_count(data, options),
          BatchFiller(data, options.normalization, options.image.value_or(data.shape),
                      {options.augmentation, options.seed, options.transforms},
                      options.damaged)),
      mixer_(options.transforms.mix, fillers_.front().shape(), data.classes.size(),
             {options.seed, options.worker}),
      image_size_(fillers_.front().shape().size()),
      piece_size_(data.files ? kFilesInPiece : batch_size_),
      ring_(std::min(static_cast<std::size_t>(options.ahead), batches_) + 1) {
  const std::size_t most = part_.sample_count(batch_size_);
  const std::size_t with_those_before = most + (mixer_.is_on() ? part_.count() : 0);
  for (Slot& slot : ring_) {
    slot.images = AlignedBuffer<float>(with_those_before * image_size_);
    slot.labels = AlignedBuffer<std::int32_t>(with_those_before);
    slot.distributions = AlignedBuffer<float>(most * mixer_.distribution_size());
    slot.samples.reserve(with_those_before);
    slot.runs.reserve(part_.count());
    slot.before.reserve(part_.count());
  }
  for (std::size_t i = 0; i < fillers_.size(); ++i) {
    threads_.emplace_back([this, i] { prepare(static_cast<int>(i)); });
  }
}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    state_.ending = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Loader::start_epoch(int epoch, std::size_t first_batch) {
  check(first_batch <= batches_, "an epoch starts at one of its batches");
  std::unique_lock lock(mutex_);
  stop_filling(lock);
  order_.start_epoch(epoch);
  epoch_ = epoch;
  state_.next = state_.oldest = state_.filled = first_batch;
  state_.end = batches_;
  state_.claimed = {first_batch, {0, 0}};
  state_.failure = nullptr;
  changed_.notify_all();
}

const Batch* Loader::next() {
  std::unique_lock lock(mutex_);
  const bool is_first = state_.oldest == state_.next;
  state_.oldest = state_.next;
  changed_.notify_all();
  if (state_.next == state_.end) return nullptr;
  if (state_.next == state_.filled) {
    const Stopwatch waiting;
    // The first batch of an epoch is always waited for, however fast the threads are.
    if (!is_first && state_.work.threads < static_cast<int>(threads_.size())) {
      ++state_.work.threads;
    }
    changed_.wait(lock, [&] { return state_.next < state_.filled || state_.failure; });
    seconds_waited_ += waiting.seconds();
  }
  if (state_.next == state_.filled) std::rethrow_exception(state_.failure);
  return &slot(state_.next++).batch;
}

LoaderWork Loader::work() const {
  const std::lock_guard lock(mutex_);
  return state_.work;
}

/// Makes the threads end the current epoch, after the pieces that they may be writing.
void Loader::stop_filling(std::unique_lock<std::mutex>& lock) {
  state_.end = state_.filled;
  changed_.wait(lock, [&] { return state_.filling == 0; });
}

bool Loader::may_fill(int thread) const {
  const std::size_t batch = state_.claimed.batch;
  return thread < state_.work.threads && !state_.failure && batch < state_.end &&
         batch - state_.oldest < ring_.size();
}

/// The loop of a thread.
void Loader::prepare(int thread) {
  BatchFiller& filler = fillers_[static_cast<std::size_t>(thread)];
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return state_.ending || may_fill(thread); });
    if (state_.ending) return;
    const Piece piece = claim();
    ++state_.filling;
    lock.unlock();
    std::exception_ptr failure;
    const double start = thread_seconds();
    try {
      fill(piece, filler);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    state_.work.images += piece.samples.size();
    if (failure) state_.failure = failure;
    if (!failure) finish(piece, lock);
    state_.work.cpu_seconds += thread_seconds() - start;
    --state_.filling;
    changed_.notify_all();
  }
}

/// Takes the next samples of the epoch; none of a batch of which this rank has none.
Loader::Piece Loader::claim() {
  Piece& claimed = state_.claimed;
  if (claimed.samples.end == 0) open(claimed.batch);
  const std::size_t count = slot(claimed.batch).samples.size();
  claimed.samples = {claimed.samples.end,
                     std::min(count, claimed.samples.end + piece_size_)};
  const Piece piece = claimed;
  if (piece.samples.end == count) claimed = {piece.batch + 1, {0, 0}};
  return piece;
}

/// Prepares the slot of a batch for its pieces.
void Loader::open(std::size_t number) {
  Slot& slot = this->slot(number);
  const std::size_t begin = number * batch_size_;
  const std::size_t global_count = std::min(batch_size_, order_.size() - begin);
  slot.samples.clear();
  slot.runs.clear();
  slot.before.clear();
  for (std::size_t i = 0, end = 0; i < part_.count(); ++i) {
    const Range own = part_.samples_of(part_.number(i), global_count);
    if (own.size() == 0) continue;
    if (slot.runs.empty() || own.begin != end) {
      const std::size_t before = begin + (own.begin + global_count - 1) % global_count;
      slot.before.push_back(order_.at({before, before + 1}).front());
      slot.runs.push_back({slot.samples.size(), slot.samples.size()});
    }
    const auto samples = order_.at({begin + own.begin, begin + own.end});
    slot.samples.insert(slot.samples.end(), samples.begin(), samples.end());
    slot.runs.back().end = slot.samples.size();
    end = own.end;
  }
  const std::size_t count = slot.samples.size();
  if (mixer_.is_on()) {
    slot.samples.insert(slot.samples.end(), slot.before.begin(), slot.before.end());
  }
  slot.left = slot.samples.size() + 1;
  set_batch(slot, count, global_count);
}

void Loader::set_batch(Slot& slot, std::size_t count, std::size_t global_count) const {
  slot.batch = {slot.images.span().first(count * image_size_),
                slot.labels.span().first(count),
                count,
                global_count,
                std::span(slot.samples).first(count),
                slot.distributions.span().first(count * mixer_.distribution_size())};
}

void Loader::fill(const Piece& piece, BatchFiller& filler) {
  Slot& slot = this->slot(piece.batch);
  const auto [begin, end] = piece.samples;
  filler.fill(epoch_, std::span(slot.samples).subspan(begin, end - begin),
              slot.images.span().subspan(begin * image_size_),
              slot.labels.span().subspan(begin));
}

/// Counts a piece that is written, and the batches that are complete now.
void Loader::finish(const Piece& piece, std::unique_lock<std::mutex>& lock) {
  Slot& slot = this->slot(piece.batch);
  slot.left -= piece.samples.size();
  if (slot.left == 1) {
    lock.unlock();
    complete(piece.batch);
    lock.lock();
    slot.left = 0;
  }
  while (state_.filled < state_.claimed.batch && this->slot(state_.filled).left == 0) {
    ++state_.filled;
  }
}

/// Does what needs all samples of a batch.
void Loader::complete(std::size_t number) {
  Slot& slot = this->slot(number);
  if (mixer_.is_on()) {
    mixer_.mix(epoch_, number,
               {slot.runs, slot.images.span(), slot.labels.span(),
                slot.distributions.span().first(slot.batch.distributions.size())});
  } else if (std::ranges::find(slot.batch.labels, kNoLabel) != slot.batch.labels.end()) {
    leave_out(slot);
  }
}

/// Removes the samples that have no image.
void Loader::leave_out(Slot& slot) const {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < slot.samples.size(); ++i) {
    if (slot.labels[i] == kNoLabel) continue;
    const float* image = slot.images.data() + i * image_size_;
    // To the front: an image is not written over before it is copied.
    std::copy_n(image, image_size_, slot.images.data() + kept * image_size_);
    slot.labels[kept] = slot.labels[i];
    slot.samples[kept++] = slot.samples[i];
  }
  set_batch(slot, kept, slot.batch.global_count);
}

}  // namespace convoy
