// SPDX-License-Identifier: Apache-2.0

#include "convoy/pack/pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/sha256.h"
#include "convoy/pack/partial_file.h"
#include "convoy/system/tasks/parallel_tasks.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

// Samples per thread between two writes: more for an even load, fewer for less memory.
constexpr std::size_t kBlockPerThread = 32;

const char* name_of(PackedAs as) { return as == PackedAs::raw ? "raw" : "jpeg"; }

/// Both halves as one sequence.
class AllSamples {
 public:
  explicit AllSamples(const DataPair& data) : data_(data) {}

  std::size_t size() const { return data_.train.size() + data_.test.size(); }

  std::int32_t label(std::size_t sample) const {
    return half(sample).labels[index(sample)];
  }
  const Dataset& half(std::size_t sample) const {
    return sample < data_.train.size() ? data_.train : data_.test;
  }
  std::size_t index(std::size_t sample) const {
    return sample < data_.train.size() ? sample : sample - data_.train.size();
  }

  /// Which samples they are: names and labels.
  std::string digest() const {
    Sha256 digest;
    for (std::size_t i = 0; i < size(); ++i) {
      const std::string name =
          half(i).files ? half(i).files->contents->name(index(i)) : half(i).name;
      const std::string line = fmt::format("{}\n{}\n", name, label(i));
      digest.add(std::as_bytes(std::span(line)));
    }
    return digest.hex();
  }

 private:
  const DataPair& data_;
};

json description(const DataPair& data, const ImagePacking& images) {
  return {{"dataset", data.train.name},
          {"as", name_of(images.as)},
          {"short_side", images.short_side},
          {"quality", images.quality},
          {"classes", data.train.classes}};
}

void check_file(const fs::path& file) {
  if (!file.has_filename()) {
    throw InputError(InputKind::usage, {.where = "--out",
                                        .found = file.empty() ? "no name" : file.string(),
                                        .expected = "the name of a file",
                                        .hint = (file / "images.pack").string()});
  }
  expect_free_name(file);
}

void check_images(const DataPair& data, const PackOptions& options) {
  const Dataset& train = data.train;
  if (!train.files && (train.shape.channels != 3 || !train.images.are_bytes())) {
    throw InputError(InputKind::settings,
                     {.where = "data",
                      .found = train.name + ", whose images are grey or floats",
                      .expected = "files, or images of 8-bit RGB",
                      .hint = "it is in memory anyway: train from it as it is"});
  }
  if (!train.files && options.images.short_side > 0) {
    throw InputError(InputKind::settings,
                     {.where = "--short-side",
                      .found = std::to_string(options.images.short_side),
                      .expected = "none with data=" + train.name,
                      .hint = "data.resize resizes its images when they are used"});
  }
  check_file(options.file);
}

/// Packs samples, a block at a time.
class BlockPacker {
 public:
  BlockPacker(const DataPair& data, const PackOptions& options)
      : samples_(data),
        options_(options),
        packers_(static_cast<std::size_t>(options.threads), ImagePacker(options.images)) {
  }

  /// Packs the samples after those that the file has. Returns their number.
  std::size_t pack_block(PartialFile& file, std::vector<std::string>& left_out) {
    const std::size_t first = file.records().size();
    const std::size_t count =
        std::min(kBlockPerThread * packers_.size(), samples_.size() - first);
    std::vector<std::vector<std::byte>> images(count);
    std::vector<std::int32_t> labels(count);
    std::vector<std::string> faults(count);
    run_in_parallel(count, packers_.size(), [&](std::size_t i, std::size_t thread) {
      labels[i] = samples_.label(first + i);
      images[i] = pack(first + i, packers_[thread], faults[i]);
    });
    file.add(images, labels);
    for (std::string& fault : faults) {
      if (!fault.empty()) left_out.push_back(std::move(fault));
    }
    return count;
  }

  const AllSamples& samples() const { return samples_; }

 private:
  std::vector<std::byte> pack(std::size_t sample, ImagePacker& packer,
                              std::string& fault) const {
    try {
      return packer.pack(samples_.half(sample), samples_.index(sample));
    } catch (const InputError& error) {
      if (!options_.skip_damaged || error.kind() != InputKind::data) throw;
      fault = error.what();
      return {};
    }
  }

  AllSamples samples_;
  const PackOptions& options_;
  std::vector<ImagePacker> packers_;
};

std::size_t kept(std::span<const PackedRecord> records, const std::string& half) {
  const auto count = static_cast<std::size_t>(std::ranges::count_if(
      records, [](const PackedRecord& record) { return record.bytes > 0; }));
  if (count > 0) return count;
  throw InputError(InputKind::data, {.where = half,
                                     .found = "no image that can be decoded",
                                     .expected = "at least one",
                                     .hint = ""});
}

}  // namespace

PackResult pack_data(const DataPair& data, const PackOptions& options) {
  check_images(data, options);
  BlockPacker packer(data, options);
  json job = description(data, options.images);
  job["samples"] = packer.samples().digest();
  job["skip_damaged"] = options.skip_damaged;
  PartialFile file(options.file, json_text(job));
  PackResult result{.resumed = file.records().size()};
  const std::size_t all = packer.samples().size();
  while (file.records().size() < all) {
    if (options.should_stop && options.should_stop()) return result;
    packer.pack_block(file, result.left_out);
    if (options.progress) options.progress(file.records().size(), all);
  }
  const std::span records = file.records();
  result.train = kept(records.first(data.train.size()), "train");
  result.val = kept(records.subspan(data.train.size()), "val");
  file.finish(data.train.size(), description(data, options.images));
  result.bytes = fs::file_size(options.file);
  result.complete = true;
  return result;
}

}  // namespace convoy
