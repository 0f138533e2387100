// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/sha256.h"
#include "convoy/checkpoint/safetensors.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kStateFile = "state.json";
constexpr const char* kDamagedHint =
    "the file was damaged or changed: use another checkpoint";
constexpr const char* kFiles[] = {kModelFile, kOptimizerFile, kStateFile, kConfigFile};

std::string as_text(const json& content) { return content.dump(2) + "\n"; }

std::string sha256_of(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

FileMark write_text(const fs::path& path, const std::string& text) {
  write_atomically(path, text);
  return mark_of(std::as_bytes(std::span(text)));
}

fs::path in_new_folder(const fs::path& path) {
  make_folders(path.parent_path());
  return path;
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

void verify_file(const fs::path& path, const FileMark& mark) {
  const std::vector<std::byte> content = read_bytes(path);
  const auto read = [&](std::uint64_t offset, std::span<std::byte> bytes) {
    std::ranges::copy(std::span(content).subspan(offset, bytes.size()), bytes.begin());
  };
  if (matches(mark, content.size(), read)) return;
  throw damaged(path, fmt::format("{} bytes with a different SHA-256", content.size()),
                fmt::format("the {} bytes that the manifest names", mark.bytes()));
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

CheckpointDraft::CheckpointDraft(const fs::path& run, std::uint64_t step)
    : path_(in_new_folder(run / "checkpoints" / checkpoint_name(step))), folder_(path_) {}

fs::path CheckpointDraft::complete(const CheckpointContent& content,
                                   const FileMark& model, const FileMark& optimizer) {
  json files;
  files[kModelFile] = to_json(model);
  files[kOptimizerFile] = to_json(optimizer);
  files[kStateFile] =
      to_json(write_text(folder() / kStateFile, as_text(to_json(content.state))));
  files[kConfigFile] = to_json(write_text(folder() / kConfigFile, content.config));
  write_text(folder() / kManifestFile, as_text(manifest_of(files)));
  folder_.replace();
  return path_;
}

fs::path write_checkpoint(CheckpointDraft& draft, const CheckpointContent& content) {
  const FileMark model = save_values(draft.folder() / kModelFile, content.model);
  return draft.complete(content, model,
                        save_values(draft.folder() / kOptimizerFile, content.optimizer));
}

fs::path save_checkpoint(const fs::path& run, const CheckpointContent& content) {
  CheckpointDraft draft(run, content.state.step);
  return write_checkpoint(draft, content);
}

void verify_checkpoint(const fs::path& checkpoint) {
  const fs::path manifest = checkpoint / kManifestFile;
  const json files = read_manifest(manifest);
  const JsonObject entries(files, source_of(manifest));
  for (const char* name : kFiles) {
    verify_file(checkpoint / name,
                file_mark_from_json(entries.object(name), source_of(manifest)));
  }
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

std::vector<PartTensor> tensors_of(const std::vector<SavedPart>& parts) {
  std::vector<PartTensor> tensors;
  for (const SavedPart& part : parts) {
    for (const Segment& segment : part.layout.segments()) {
      if (!part.only_trained || segment.trained) tensors.push_back({part, segment});
    }
  }
  return tensors;
}

FileMark save_values(const fs::path& path, const std::vector<SavedPart>& parts) {
  const std::vector<PartTensor> tensors = tensors_of(parts);
  std::vector<TensorView> views;
  for (const PartTensor& tensor : tensors) views.push_back(tensor.view());
  UnitWalk walk;
  FileMark mark = write_safetensors(path, views, {}, [&](std::size_t i) {
    walk.enter({tensors[i].part.units, tensors[i].segment.unit});
  });
  walk.leave();
  return mark;
}

void walk_units(const std::vector<SavedPart>& parts) {
  UnitWalk walk;
  for (const PartTensor& tensor : tensors_of(parts)) {
    walk.enter({tensor.part.units, tensor.segment.unit});
  }
  walk.leave();
}

void load_values(const fs::path& path, const std::vector<LoadedPart>& parts) {
  const SafetensorsFile file = SafetensorsFile::read(path);
  for (const LoadedPart& part : parts) {
    for (const Segment& segment : part.layout.segments()) {
      if (part.only_trained && !segment.trained) continue;
      const std::string name = segment.name + part.suffix;
      if (part.optional && !file.contains(name)) continue;
      refuse_other_shape(file, path, name, segment);
      file.copy_values(name, part.numbers.view(segment.range));
    }
  }
}

}  // namespace convoy
