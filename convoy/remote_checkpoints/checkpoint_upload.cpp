// SPDX-License-Identifier: Apache-2.0

#include "convoy/remote_checkpoints/checkpoint_upload.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

void refuse_damage(const OpenCheckpoint::File& file) {
  if (matches(file.entry.mark, file.content)) return;
  throw InputError(
      InputKind::data,
      {.where = file.content.path(),
       .found = fmt::format("{} bytes with a different SHA-256", file.content.size()),
       .expected =
           fmt::format("the {} bytes that the manifest names", file.entry.mark.bytes()),
       .hint = "the file was damaged or changed: it is not uploaded"});
}

enum class There { nothing, same, other };

/// A user who may put but not list gets AccessDenied for objects that do not exist.
There look(S3Client& client, const S3Location& manifest, const std::string& text) try {
  const auto found = client.get_bytes(manifest, text.size());
  if (!found) return There::nothing;
  return std::ranges::equal(*found, bytes_of(text)) ? There::same : There::other;
} catch (const S3Error& error) {
  if (error.code() != "AccessDenied") throw;
  return There::nothing;
} catch (const InputError&) {
  return There::other;  // larger, or damaged
}

/// A folder without its manifest is not a checkpoint, whatever points to it: so the
/// manifest is removed first if the files are about to change.
void upload_files(S3Client& client, const S3Location& place,
                  const OpenCheckpoint& checkpoint, There before) {
  for (const auto& file : checkpoint.files) refuse_damage(file);
  if (before == There::other) client.remove(place / kManifestName);
  for (const auto& file : checkpoint.files) {
    client.put_file(place / file.entry.name, file.content);
  }
  client.put_bytes(place / kManifestName, bytes_of(checkpoint.manifest));
}

InputError no_checkpoint(const fs::path& folder) {
  return {InputKind::data,
          {.where = folder,
           .found = "a folder of another name",
           .expected = "a checkpoint's folder, named by its step",
           .hint = ""}};
}

}  // namespace

std::uint64_t OpenCheckpoint::bytes() const {
  std::uint64_t sum = manifest.size();
  for (const File& file : files) sum += file.content.size();
  return sum;
}

OpenCheckpoint open_checkpoint(const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) throw storage_error(folder, "find a checkpoint here", error.value());
  if (!is_step_name(real.filename())) throw no_checkpoint(real);
  OpenCheckpoint checkpoint{
      .name = real.filename(), .manifest = read_text(real / kManifestName), .files = {}};
  for (ManifestFile& entry : parse_manifest(checkpoint.manifest, real / kManifestName)) {
    SourceFile content(real / entry.name);
    checkpoint.files.push_back({std::move(entry), std::move(content)});
  }
  return checkpoint;
}

std::uint64_t upload_checkpoint(S3Client& client, const S3Location& run,
                                const OpenCheckpoint& checkpoint, CheckpointRole role) {
  const S3Location place = checkpoint_place(run, checkpoint.name);
  const There before = look(client, place / kManifestName, checkpoint.manifest);
  if (before != There::same) upload_files(client, place, checkpoint, before);
  client.put_bytes(pointer_place(run, role), bytes_of(pointer_text(checkpoint.name)));
  return before == There::same ? 0 : checkpoint.bytes();
}

void check_upload(S3Client& client, const S3Location& run) try {
  client.get_bytes(pointer_place(run, CheckpointRole::last), kLargestPointer);
} catch (const S3Error& error) {
  // This is also the answer for an object that does not exist, if the user may put but
  // not list.
  if (error.code() != "AccessDenied") throw;
} catch (const InputError&) {
  // There is another kind of object, which an upload will replace.
}

}  // namespace convoy
