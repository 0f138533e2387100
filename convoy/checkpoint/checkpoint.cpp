// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/sha256.h"
#include "convoy/checkpoint/safetensors.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kOptimizerFile = "optimizer.safetensors";
constexpr const char* kStateFile = "state.json";
constexpr const char* kDamagedHint =
    "the file was damaged or changed: use another checkpoint";
constexpr const char* kFiles[] = {kModelFile, kOptimizerFile, kStateFile, kConfigFile};

std::string as_text(const json& content) { return content.dump(2) + "\n"; }

std::string sha256_of(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

json entry_of(const FileMark& mark) {
  return {{"bytes", mark.bytes}, {"sha256", mark.sha256}};
}

FileMark write_text(const fs::path& path, const std::string& text) {
  write_atomically(path, text);
  return {text.size(), sha256_of(text)};
}

json manifest_of(const json& files) {
  return {{"files", files}, {"sha256", sha256_of(as_text(files))}};
}

InputError damaged(const fs::path& file, std::string found, std::string expected) {
  return {InputKind::data,
          {.where = file,
           .found = std::move(found),
           .expected = std::move(expected),
           .hint = kDamagedHint}};
}

JsonSource source_of(const fs::path& path) {
  return {.where = path,
          .expected = "a JSON object as convoy writes it",
          .hint = kDamagedHint};
}

json parse_file(const fs::path& path) {
  return parse_json(read_text(path, kMostJsonBytes), source_of(path));
}

/// Returns the manifest's files. Throws unless the manifest is byte for byte as it was
/// written.
json read_manifest(const fs::path& path) {
  const json manifest = parse_file(path);
  const json files = JsonObject(manifest, source_of(path)).field("files");
  if (read_text(path) != as_text(manifest_of(files))) {
    throw damaged(path, "a manifest that does not match its own SHA-256",
                  "a manifest as convoy writes it");
  }
  return files;
}

/// `entry` is the file's entry in the manifest's `files`.
void verify_file(const fs::path& path, const JsonObject& files) {
  const JsonObject entry = files.object(path.filename().string());
  const std::vector<std::byte> content = read_bytes(path);
  const FileMark found{content.size(), sha256_hex(content)};
  const std::uint64_t bytes = entry.whole("bytes");
  if (bytes == found.bytes && entry.text("sha256") == found.sha256) return;
  throw damaged(path, fmt::format("{} bytes with a different SHA-256", found.bytes),
                fmt::format("the {} bytes that the manifest names", bytes));
}

void refuse_other_shape(const SafetensorsFile& file, const fs::path& path,
                        const std::string& name, const Segment& segment) {
  if (!file.contains(name) || file.shape(name) == segment.shape) return;
  throw InputError(InputKind::data,
                   {.where = path.string() + ": tensor " + name,
                    .found = fmt::format("shape {}", file.shape(name)),
                    .expected = fmt::format("shape {}", segment.shape),
                    .hint = "the file belongs to another model or number of classes"});
}

template <class Work>
void for_each_segment(const std::vector<SavedPart>& parts, const Work& work) {
  for (const SavedPart& part : parts) {
    for (const Segment& segment : part.layout.segments()) {
      if (!part.only_trained || segment.trained) work(part, segment);
    }
  }
}

/// A unit of a part that is made whole while it is read.
struct UnitStep {
  PassListener* units = nullptr;
  UnitId unit{};

  bool operator==(const UnitStep&) const = default;
};

/// The unit that is read now.
class UnitWalk {
 public:
  void enter(const UnitStep& next) {
    if (next == now_) return;
    leave();
    now_ = next;
    if (now_.units != nullptr) now_.units->before_forward(now_.unit);
  }
  void leave() {
    if (now_.units != nullptr) now_.units->after_forward(now_.unit);
    now_ = {};
  }

 private:
  UnitStep now_;
};

}  // namespace

std::string checkpoint_name(std::uint64_t step) { return fmt::format("{:08}", step); }

fs::path save_checkpoint(const fs::path& run, const CheckpointContent& content) {
  const fs::path path = run / "checkpoints" / checkpoint_name(content.state.step);
  make_folders(path.parent_path());
  AtomicFolder folder(path);
  json files;
  files[kModelFile] = entry_of(save_values(folder.path() / kModelFile, content.model));
  files[kOptimizerFile] =
      entry_of(save_values(folder.path() / kOptimizerFile, content.optimizer));
  files[kStateFile] =
      entry_of(write_text(folder.path() / kStateFile, as_text(to_json(content.state))));
  files[kConfigFile] = entry_of(write_text(folder.path() / kConfigFile, content.config));
  write_text(folder.path() / kManifestFile, as_text(manifest_of(files)));
  folder.replace();
  return path;
}

void verify_checkpoint(const fs::path& checkpoint) {
  const fs::path manifest = checkpoint / kManifestFile;
  const json files = read_manifest(manifest);
  const JsonObject entries(files, source_of(manifest));
  for (const char* name : kFiles) verify_file(checkpoint / name, entries);
}

CheckpointState load_state(const fs::path& checkpoint) {
  verify_checkpoint(checkpoint);
  const fs::path path = checkpoint / kStateFile;
  return state_from_json(parse_file(path), path);
}

CheckpointState load_checkpoint(const fs::path& checkpoint,
                                const std::vector<LoadedPart>& model,
                                const std::vector<LoadedPart>& optimizer) {
  CheckpointState state = load_state(checkpoint);
  load_numbers(checkpoint, model, optimizer);
  return state;
}

void load_numbers(const fs::path& checkpoint, const std::vector<LoadedPart>& model,
                  const std::vector<LoadedPart>& optimizer) {
  load_values(checkpoint / kModelFile, model);
  if (!optimizer.empty()) load_values(checkpoint / kOptimizerFile, optimizer);
}

FileMark save_values(const fs::path& path, const std::vector<SavedPart>& parts) {
  std::vector<TensorView> tensors;
  std::vector<UnitStep> steps;
  for_each_segment(parts, [&](const SavedPart& part, const Segment& segment) {
    tensors.push_back(
        {segment.name + part.suffix, segment.shape, part.numbers.view(segment.range)});
    steps.push_back({part.units, segment.unit});
  });
  UnitWalk walk;
  FileMark mark =
      write_safetensors(path, tensors, {}, [&](std::size_t i) { walk.enter(steps[i]); });
  walk.leave();
  return mark;
}

void walk_units(const std::vector<SavedPart>& parts) {
  UnitWalk walk;
  for_each_segment(parts, [&](const SavedPart& part, const Segment& segment) {
    walk.enter({part.units, segment.unit});
  });
  walk.leave();
}

void load_values(const fs::path& path, const std::vector<LoadedPart>& parts) {
  const SafetensorsFile file = SafetensorsFile::read(path);
  for (const LoadedPart& part : parts) {
    for (const Segment& segment : part.layout.segments()) {
      if (part.only_trained && !segment.trained) continue;
      const std::string name = segment.name + part.suffix;
      refuse_other_shape(file, path, name, segment);
      file.copy_values(name, part.numbers.view(segment.range));
    }
  }
}

}  // namespace convoy
