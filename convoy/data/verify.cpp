// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/sha256.h"
#include "convoy/base/text.h"
#include "convoy/data/checks.h"
#include "convoy/data/convoy_format.h"
#include "convoy/data/gzip.h"
#include "convoy/data/labels.h"
#include "convoy/data/statistics.h"

namespace convoy {
namespace {

constexpr double kMeanTolerance = 5.1e-5;  // means are known to four digits

/// One half of a dataset, as errors name it.
struct Half {
  const Dataset& data;
  const SplitFacts& facts;
  const DataSource& source;
  std::string where;

  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    throw bad_data(where, found, expected + ", as " + source.name + " has",
                   "get it from another source");
  }
};

void verify_counts(const Half& half) {
  if (half.data.size() != half.facts.count) {
    half.refuse(with_commas(half.data.size()) + " samples",
                with_commas(half.facts.count) + " samples");
  }
  const std::vector<std::size_t> counts = class_counts(half.data);
  for (std::size_t label = 0; label < counts.size(); ++label) {
    const std::size_t expected = half.facts.per_class[label];
    if (counts[label] == expected) continue;
    half.refuse(fmt::format("{} samples of class {} ({})", with_commas(counts[label]),
                            label, half.data.classes[label]),
                with_commas(expected));
  }
}

void verify_means(const Half& half) {
  if (half.facts.channel_means.empty()) return;
  const std::vector<PixelMoments> channels = channel_moments(half.data);
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const double expected = half.facts.channel_means[i];
    if (std::abs(channels[i].mean - expected) <= kMeanTolerance) continue;
    half.refuse(fmt::format("a mean of {:.4f} in channel {}", channels[i].mean, i),
                fmt::format("{:.4f}", expected));
  }
}

void verify_digest(const Half& half) {
  if (half.facts.sha256.empty()) return;
  const std::string digest = samples_digest(half.data);
  if (digest == half.facts.sha256) return;
  half.refuse("samples with SHA-256 " + digest, half.facts.sha256);
}

void verify_half(const Half& half) {
  if (half.facts.per_class.empty()) return;  // the digests of its files are sufficient
  verify_counts(half);
  verify_means(half);
  verify_digest(half);
}

}  // namespace

void verify_content(std::span<const std::byte> content, const DataFile& file,
                    const std::string& where, const std::string& hint) {
  if (content.size() != file.bytes) {
    throw bad_data(where, with_commas(content.size()) + " bytes",
                   fmt::format("the {} bytes of {}", with_commas(file.bytes), file.name),
                   hint);
  }
  if (file.sha256.empty()) return;
  const std::string digest = sha256_hex(content);
  if (digest == file.sha256) return;
  throw bad_data(where, "content with SHA-256 " + digest,
                 fmt::format("{} with SHA-256 {}", file.name, file.sha256), hint);
}

void verify_files(const DataPlace& place, const std::string& hint) {
  for (const DataFile& file : place.form->files()) {
    const std::filesystem::path path = file_in(place.folder, file);
    const PlainFile content(path, file.bytes + kUnpackedSlack);
    verify_content(std::as_bytes(content.bytes()), file, path.string(), hint);
    if (place.form->format == Format::compact) verify_convoy_format(path, hint);
  }
}

void verify_samples(const DataPair& data, const DataSource& source,
                    const std::string& where) {
  verify_half({data.train, source.train, source, where + ", training samples"});
  verify_half({data.test, source.test, source, where + ", test samples"});
}

std::string samples_digest(const Dataset& data) {
  const std::size_t classes = data.classes.size();
  std::vector<std::string> digests(data.size());
  for (std::size_t sample = 0; sample < data.size(); ++sample) {
    Sha256 digest;
    const auto label = encode_labels(data.labels.subspan(sample, 1), classes);
    digest.add(std::as_bytes(std::span(label)));
    data.visit_image(sample, [&](auto image) { digest.add(std::as_bytes(image)); });
    digests[sample] = digest.hex();
  }
  std::ranges::sort(digests);
  Sha256 all;
  for (const std::string& digest : digests) all.add(std::as_bytes(std::span(digest)));
  return all.hex();
}

}  // namespace convoy
