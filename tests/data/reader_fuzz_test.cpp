// SPDX-License-Identifier: Apache-2.0
//
// Readers of foreign bytes on damaged ones: whatever they are given, they read it or
// refuse it with an InputError. CONVOY_FUZZ_SECONDS is how long each test looks for
// bytes that do otherwise (default: a few hundred mutants); mutants follow from the seed
// CONVOY_FUZZ_SEED.

#include <cstdlib>
#include <random>

#include "convoy/base/clock.h"
#include "convoy/data/tar/shard_index.h"
#include "convoy/images/image_file.h"
#include "convoy/images/raw_image.h"
#include "tests/data/tar_files.h"
#include "tests/images/pillow_images.h"

namespace convoy {
namespace {

class MemoryShard final : public Shard {
 public:
  explicit MemoryShard(std::string content)
      : content_(std::move(content)), mark_{content_.size(), "1"} {}

  const std::string& name() const override { return name_; }
  const ShardMark& mark() const override { return mark_; }
  std::size_t window() const override { return 700; }
  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    ASSERT_LE(offset + bytes.size(), content_.size());
    std::ranges::copy(std::as_bytes(std::span(content_)).subspan(offset, bytes.size()),
                      bytes.begin());
  }

 private:
  std::string name_ = "memory", content_;
  ShardMark mark_;
};

/// Bytes that are changed, cut, repeated and taken from another text.
class Mutator {
 public:
  std::string operator()(std::string text, const std::string& other) {
    for (std::uint64_t i = below(6); i <= 6; ++i) {
      if (text.empty()) return other;
      change(text, other);
    }
    return text;
  }

  std::uint64_t below(std::uint64_t end) { return random_() % end; }

 private:
  void change(std::string& text, const std::string& other) {
    const std::size_t at = below(text.size());
    switch (below(8)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text.insert(at, text.substr(below(text.size()), below(600)));
        break;
      case 2:
        text.replace(at, below(600), other.substr(below(other.size()), below(600)));
        break;
      case 3:
        text.erase(at, below(20));
        break;
      case 4:
        text[at] = "\0\xff\x7f\x80 07"[below(7)];
        break;
      default:
        text[at] ^= static_cast<char>(1 << below(8));
    }
  }

  std::mt19937_64 random_{[] {
    const char* seed = std::getenv("CONVOY_FUZZ_SEED");
    return seed != nullptr ? std::strtoull(seed, nullptr, 10) : 1;
  }()};
};

/// Feeds mutants of the texts to `read`. Returns how many were refused.
template <class Read>
std::size_t fuzz(const std::vector<std::string>& texts, std::size_t least,
                 const Read& read) {
  const char* given = std::getenv("CONVOY_FUZZ_SECONDS");
  const double seconds = given != nullptr ? std::atof(given) : 0;
  Mutator mutated;
  const Stopwatch watch;
  std::size_t refused = 0, tried = 0;
  for (; tried < least || watch.seconds() < seconds; ++tried) {
    const std::string& other = texts[mutated.below(texts.size())];
    const std::string text = mutated(texts[tried % texts.size()], other);
    const Stopwatch one;
    try {
      read(text);
    } catch (const InputError&) {
      ++refused;
    }
    EXPECT_LT(one.seconds(), 30) << "a mutant of " << text.size() << " bytes";
  }
  testing::Test::RecordProperty("mutants", static_cast<int>(tried));
  if (seconds > 0) std::printf("%zu mutants, %zu refused\n", tried, refused);
  return refused;
}

/// The checksum of every header is made right, so that what follows it is looked at.
std::string with_right_checksums(std::string tar) {
  for (std::size_t at = 0; at + 512 <= tar.size(); at += 512) {
    if (tar.compare(at + 257, 5, "ustar") != 0) continue;
    tar.replace(at + 148, 8, "        ");
    unsigned sum = 0;
    for (std::size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(tar[at + i]);
    tar.replace(at + 148, 7, fmt::format("{:06o}", sum & 0777777) + '\0');
  }
  return tar;
}

std::vector<std::string> made_up_tars() {
  const TemporaryFolder folder;
  const std::string longer = std::string(130, 'n');
  std::vector<std::string> tars;
  for (const std::string& name : {std::string("a"), longer, std::string("b")}) {
    write_atomically(folder.path() / (name + ".jpg"), std::string(700, 'i'));
    write_atomically(folder.path() / (name + ".cls"), "12\n");
  }
  for (const char* format : {"gnu", "pax", "v7"}) {
    std::vector<std::string> names = {"a.jpg", "a.cls", "b.cls", "b.jpg"};
    if (format != std::string("v7")) {
      names.insert(names.end(), {longer + ".cls", longer + ".jpg"});
    }
    const auto tar = folder.path() / "x.tar";
    system_tar(tar, folder.path(), names, std::string("--format=") + format);
    tars.push_back(read_text(tar).substr(0, 12 * 1024));
  }
  return tars;
}

TEST(ReaderFuzz, FindsNoTarThatIsNeitherReadNorRefused) {
  std::size_t samples = 0;
  const std::size_t refused = fuzz(made_up_tars(), 400, [&](const std::string& text) {
    const std::string tar = with_right_checksums(text);
    const MemoryShard shard(tar);
    const ShardIndex index(shard, "");
    for (std::size_t i = 0; i < index.size(); ++i) {
      const ShardIndex::Record& record = index.record(i);
      ASSERT_LE(record.offset + record.bytes, tar.size());
      ASSERT_FALSE(index.name(i).empty());
      ++samples;
    }
  });
  EXPECT_GT(refused, 0u);
  EXPECT_GT(samples, 0u);
}

TEST(ReaderFuzz, FindsNoImageThatIsNeitherReadNorRefused) {
  std::vector<std::string> texts;
  for (const auto& [path, facts] : PillowImages::get().facts().items()) {
    const std::vector<std::byte> content =
        read_bytes(std::filesystem::exists(path) ? std::filesystem::path(path)
                                                 : PillowImages::get().path(path));
    if (content.size() < 40'000) {
      texts.emplace_back(reinterpret_cast<const char*>(content.data()), content.size());
    }
  }
  ASSERT_GT(texts.size(), 10u);
  const auto raw =
      raw_image_bytes(decode_image(PillowImages::get().content("rgb.png"), ""));
  texts.emplace_back(reinterpret_cast<const char*>(raw.data()), raw.size());

  const std::size_t refused = fuzz(texts, 400, [&](const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    ImageFile file(bytes, "x");
    const Box box = {file.size().width / 3, file.size().height / 4,
                     (file.size().width + 2) / 3, (file.size().height + 1) / 2};
    const int reduction = file.reduction(box, {4, 4}, Decoding::fast);
    Image part;
    const Box place = file.read(reduced(box, reduction), reduction, part);
    ASSERT_LE(place.left + place.width, part.size.width);
    ASSERT_LE(place.top + place.height, part.size.height);
    decode_image(bytes, "x");
  });
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace convoy
