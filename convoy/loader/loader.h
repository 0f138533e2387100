// SPDX-License-Identifier: Apache-2.0
//
// Loader: provides a dataset's samples as batches of floats, prefetched by threads.
//
//   loader.start_epoch(epoch);
//   while (const Batch* batch = loader.next()) { ... }
//
// The threads fill a ring of ahead + 1 buffers; the additional one is the batch in use:
//
//        next() reads here      the threads fill here
//              v                       v
//   | batch 7 | batch 8 (in use) | batch 9 | ...
//
// Images in memory are written by one thread, a batch at a time. Files are decoded a few
// samples at a time, at first by one thread; whenever next() has to wait, one more joins,
// so that as many cores as are needed decode, and the others train.
//
// The content of a batch follows from samples, seed, epoch and batch number alone,
// however many are prefetched; the augmentation of an image follows from seed, epoch and
// its index. The last batch of an epoch may be smaller; it is neither padded nor dropped.
// A rank prepares only the samples of its own micro-batches, of which a batch may have
// none. Of images in memory, nothing is allocated from one batch to the next.
//
// What needs a whole batch follows when all of its samples are written: mixup and cutmix,
// for which a rank also prepares the sample before each run of its own; or samples are
// left out whose files cannot be decoded.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "convoy/base/aligned.h"
#include "convoy/data/dataset.h"
#include "convoy/loader/augmentation.h"
#include "convoy/loader/batch_filler.h"
#include "convoy/loader/normalization.h"
#include "convoy/loader/partition.h"
#include "convoy/loader/sample_order.h"
#include "convoy/loader/transforms/batch_mixer.h"
#include "convoy/loader/transforms/transform_options.h"
#include "convoy/params/microbatch_part.h"

namespace convoy {

struct Batch {
  std::span<const float> images;         // [count][channels][height][width], normalised
  std::span<const std::int32_t> labels;  // [count]
  std::size_t count = 0;
  std::size_t global_count = 0;              // samples of the batch over all ranks
  std::span<const std::uint32_t> samples{};  // [count] in the dataset, or in whose place
  /// [count][class] if labels are mixed; labels then have the largest numbers of these.
  std::span<const float> distributions{};
};

struct LoaderOptions {
  std::size_t batch_size = 64;  // over all ranks (the global batch size)
  MicrobatchPart part{};        // the part of each batch that this rank prepares
  std::uint64_t seed = 1;       // of shuffling and augmentation
  bool shuffle = true;
  std::uint32_t worker = 0;  // whose sample order it is
  Partition partition =
      Partition::iid;  // unless iid, each micro-batch has its own part of the samples
  Normalization normalization{};
  /// The shape of a batch's images, to which the dataset's are resized before they are
  /// augmented; none: as the dataset has them.
  std::optional<Shape> image{};
  Augmentation augmentation = Augmentation::none;
  TransformOptions transforms{};  // besides it
  DamagedSample damaged = DamagedSample::replaced;
  int ahead = 2;    // prefetched batches, at least 1
  int threads = 0;  // that decode files, at most; 0: as many as this process has cores
};

/// What the threads of a loader did.
struct LoaderWork {
  double cpu_seconds = 0;
  std::size_t images = 0;
  int threads = 1;  // that are in use
};

/// One thread may call the methods.
class Loader {
 public:
  /// Borrows the dataset, which must not change while the loader lives. `samples` are the
  /// indices of the samples to use, each once per epoch, unless the partition says
  /// otherwise: with `shared` each micro-batch goes through all of them, with `labels`
  /// some are left out.
  ///
  /// Throws InputError of kind `settings` if batch_size or ahead is 0 or the partition is
  /// impossible for these micro-batches, of kind `data` if there are no samples or the
  /// normalization has another number of channels. Requires: all samples < data.size();
  /// standard deviations are above 0.
  Loader(const Dataset& data, std::vector<std::uint32_t> samples,
         const LoaderOptions& options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Starts an epoch at a batch, whether or not the previous epoch has ended. Seeking
  /// costs the same for any batch. Requires: first_batch <= batches_per_epoch().
  void start_epoch(int epoch, std::size_t first_batch = 0);

  /// Returns the next batch, valid until the next call of next() or start_epoch();
  /// nullptr at the end of the epoch and before the first. Throws InputError if a file of
  /// that batch or one after it cannot be decoded.
  const Batch* next();

  std::size_t batches_per_epoch() const { return batches_; }
  std::size_t samples_per_epoch() const { return order_.size(); }

  /// The total time that next() has waited for the threads.
  double seconds_waited() const { return seconds_waited_; }

  LoaderWork work() const;

 private:
  struct Slot {
    AlignedBuffer<float> images;
    AlignedBuffer<std::int32_t> labels;
    AlignedBuffer<float> distributions;  // if samples are mixed
    Batch batch;
    std::vector<std::uint32_t> samples;  // if samples are mixed, then those before runs
    std::vector<Range> runs;             // of neighbours in the global batch
    std::vector<std::uint32_t> before;   // the sample before each run
    std::size_t left = 0;  // samples that are not written yet, and one if not complete
  };

  /// Some samples of a batch, which one thread writes.
  struct Piece {
    std::size_t batch = 0;
    Range samples{};  // of the batch
  };

  /// Batches in [oldest, filled) are in the ring; the threads continue to `end`.
  struct FillState {
    std::size_t next = 0;  // the batch that next() returns: `oldest` or the one after it
    std::size_t oldest = 0;  // still in use or not yet returned
    std::size_t filled = 0;
    std::size_t end = 0;
    Piece claimed{};  // the last piece: its batch, and how many of its samples, are taken
    int filling = 0;  // threads that are writing a piece, without the mutex
    bool ending = false;
    std::exception_ptr failure{};
    LoaderWork work{};
  };

  Slot& slot(std::size_t number) { return ring_[number % ring_.size()]; }
  void prepare(int thread);
  bool may_fill(int thread) const;
  Piece claim();
  void open(std::size_t number);
  void fill(const Piece& piece, BatchFiller& filler);
  void set_batch(Slot& slot, std::size_t count, std::size_t global_count) const;
  void finish(const Piece& piece, std::unique_lock<std::mutex>& lock);
  void complete(std::size_t number);
  void leave_out(Slot& slot) const;
  void stop_filling(std::unique_lock<std::mutex>& lock);

  MicrobatchPart part_;
  SampleOrder order_;
  std::size_t batch_size_;  // at most the number of samples
  std::size_t batches_;
  std::vector<BatchFiller> fillers_;  // one per thread
  BatchMixer mixer_;
  std::size_t image_size_;
  std::size_t piece_size_;
  int epoch_ = 0;
  std::vector<Slot> ring_;
  double seconds_waited_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  FillState state_;
  std::vector<std::thread> threads_;  // last: they use all members above
};

}  // namespace convoy
