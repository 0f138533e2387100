// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/file.h"
#include "convoy/base/sha256.h"
#include "convoy/train/safetensors.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kStateFile = "state.json";
constexpr const char* kManifestFile = "manifest.json";

void write_model(const fs::path& path, std::initializer_list<SavedPart> parts) {
  std::vector<TensorView> tensors;
  for (const SavedPart& part : parts) {
    for (const Segment& segment : part.layout.segments()) {
      tensors.push_back({segment.name, segment.shape, part.numbers.view(segment.range)});
    }
  }
  write_safetensors(path, tensors);
}

/// A number that is the same for all channels, or a list with one for each.
json by_channel(const Normalization& normalization, double PixelMoments::*moment) {
  const auto& moments = normalization.moments;
  if (moments.size() == 1) return moments.front().*moment;
  json numbers = json::array();
  for (const PixelMoments& of_channel : moments) numbers.push_back(of_channel.*moment);
  return numbers;
}

std::vector<double> numbers_of(const json& by_channel) {
  if (by_channel.is_array()) return by_channel;
  return {by_channel.get<double>()};
}

Normalization normalization_from_json(const json& content) {
  const std::vector<double> means = numbers_of(content.at("mean"));
  const std::vector<double> deviations = numbers_of(content.at("deviation"));
  Normalization normalization{.moments = {}};
  for (std::size_t c = 0; c < std::min(means.size(), deviations.size()); ++c) {
    normalization.moments.push_back({means[c], deviations[c]});
  }
  return normalization;
}

json to_json(const CheckpointState& state) {
  return {{"model", state.model},
          {"data", state.data},
          {"step", state.step},
          {"epoch", state.epoch},
          {"samples", state.samples},
          {"seed", state.seed},
          {"normalization",
           {{"mean", by_channel(state.normalization, &PixelMoments::mean)},
            {"deviation", by_channel(state.normalization, &PixelMoments::deviation)}}}};
}

CheckpointState state_from_json(const json& state) {
  return {.model = state.at("model"),
          .data = state.at("data"),
          .step = state.at("step"),
          .epoch = state.at("epoch"),
          .samples = state.at("samples"),
          .seed = state.at("seed"),
          .normalization = normalization_from_json(state.at("normalization"))};
}

json manifest_of(const fs::path& folder) {
  json files = json::object();
  for (const char* name : {kModelFile, kStateFile}) {
    const std::vector<std::byte> content = read_bytes(folder / name);
    files[name] = {{"bytes", content.size()}, {"sha256", sha256_hex(content)}};
  }
  return {{"files", files}};
}

/// Points the link `checkpoints/last` at a checkpoint, in one step.
void point_last_at(const fs::path& checkpoints, const std::string& name) {
  const fs::path temporary = checkpoints / ".last.tmp";
  ::unlink(temporary.c_str());  // one that a kill left
  if (::symlink(name.c_str(), temporary.c_str()) != 0 ||
      ::rename(temporary.c_str(), (checkpoints / "last").c_str()) != 0) {
    const int cause = errno;
    ::unlink(temporary.c_str());
    throw storage_error(checkpoints / "last", "point at the new checkpoint", cause);
  }
  sync_folder(checkpoints);
}

json parse_file(const fs::path& path) {
  try {
    return json::parse(read_text(path));
  } catch (const json::exception& error) {
    throw InputError(InputKind::data, {.where = path,
                                       .found = error.what(),
                                       .expected = "a JSON object as convoy writes it",
                                       .hint = "use another checkpoint"});
  }
}

/// Calls `read` and turns a missing or mistyped JSON field into an InputError.
template <class Read>
auto with_fields(const fs::path& path, const Read& read) {
  try {
    return read();
  } catch (const json::exception& error) {
    throw InputError(InputKind::data, {.where = path,
                                       .found = error.what(),
                                       .expected = "the fields that convoy writes",
                                       .hint = "use another checkpoint"});
  }
}

void verify(const fs::path& checkpoint) {
  const fs::path path = checkpoint / kManifestFile;
  const json manifest = parse_file(path);
  with_fields(path, [&] {
    for (const char* name : {kModelFile, kStateFile}) {
      const json& entry = manifest.at("files").at(name);
      const std::vector<std::byte> content = read_bytes(checkpoint / name);
      if (content.size() == entry.at("bytes").get<std::size_t>() &&
          sha256_hex(content) == entry.at("sha256").get<std::string>()) {
        continue;
      }
      throw InputError(
          InputKind::data,
          {.where = checkpoint / name,
           .found = fmt::format("{} bytes with another SHA-256", content.size()),
           .expected = fmt::format("the {} bytes that the manifest names",
                                   entry.at("bytes").get<std::size_t>()),
           .hint = "the file was damaged or changed: use another checkpoint"});
    }
  });
}

void refuse_other_shape(const SafetensorsFile& file, const fs::path& path,
                        const Segment& segment) {
  if (!file.contains(segment.name) || file.shape(segment.name) == segment.shape) return;
  throw InputError(InputKind::data,
                   {.where = path.string() + ": tensor " + segment.name,
                    .found = fmt::format("shape {}", file.shape(segment.name)),
                    .expected = fmt::format("shape {}", segment.shape),
                    .hint = "the file belongs to another model or number of classes"});
}

/// Requires: state_from_json() has taken the content.
void refuse_deviations(const fs::path& path, const json& content) {
  const json& normalization = content.at("normalization");
  const std::vector<double> deviations = numbers_of(normalization.at("deviation"));
  const std::size_t means = numbers_of(normalization.at("mean")).size();
  const bool all_positive =
      std::ranges::all_of(deviations, [](double deviation) { return deviation > 0; });
  if (means > 0 && means == deviations.size() && all_positive) return;
  throw InputError(InputKind::data, {.where = path.string() + ": normalization.deviation",
                                     .found = normalization.at("deviation").dump(),
                                     .expected = "numbers above 0, as many as means",
                                     .hint = "use another checkpoint"});
}

}  // namespace

void save_checkpoint(const fs::path& run, const CheckpointState& state,
                     std::initializer_list<SavedPart> parts) {
  const fs::path checkpoints = run / "checkpoints";
  make_folders(checkpoints);
  const std::string name = fmt::format("{:08}", state.step);
  AtomicFolder folder(checkpoints / name);
  write_model(folder.path() / kModelFile, parts);
  write_atomically(folder.path() / kStateFile, to_json(state).dump(2) + "\n");
  write_atomically(folder.path() / kManifestFile,
                   manifest_of(folder.path()).dump(2) + "\n");
  folder.replace();
  point_last_at(checkpoints, name);
}

fs::path find_checkpoint(const fs::path& target) {
  std::error_code error;
  if (!fs::exists(target, error)) {
    throw storage_error(target, "find a run or checkpoint here",
                        error ? error.value() : ENOENT);
  }
  if (fs::exists(target / kManifestFile, error)) return target;
  const fs::path last = target / "checkpoints" / "last";
  if (fs::exists(last / kManifestFile, error)) return fs::canonical(last);
  if (error) throw storage_error(last, "find a checkpoint here", error.value());
  throw InputError(
      InputKind::data,
      {.where = target,
       .found = "no checkpoint",
       .expected = "a run's folder with checkpoints/last, or a checkpoint's own",
       .hint = "a run writes its checkpoint when it ends"});
}

CheckpointState load_state(const fs::path& checkpoint) {
  verify(checkpoint);
  const fs::path path = checkpoint / kStateFile;
  const json content = parse_file(path);
  CheckpointState state = with_fields(path, [&] { return state_from_json(content); });
  refuse_deviations(path, content);
  return state;
}

CheckpointState load_checkpoint(const fs::path& checkpoint,
                                std::initializer_list<LoadedPart> parts) {
  CheckpointState state = load_state(checkpoint);
  load_values(checkpoint / kModelFile, parts);
  return state;
}

void load_values(const fs::path& path, std::initializer_list<LoadedPart> parts) {
  const SafetensorsFile file = SafetensorsFile::read(path);
  for (const LoadedPart& part : parts) {
    for (const Segment& segment : part.layout.segments()) {
      refuse_other_shape(file, path, segment);
      file.copy_values(segment.name, part.numbers.view(segment.range));
    }
  }
}

}  // namespace convoy
