// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/divided_save.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/checkpoint/piecewise_file.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

/// In the checkpoint's temporary folder while it is written. Its content is the folder's
/// path on the first rank, which ends in a random number.
constexpr const char* kProbeFile = ".shared";

bool is_seen(const fs::path& folder) try {
  return read_text(folder / kProbeFile, folder.string().size()) == folder.string();
} catch (const InputError&) {
  return false;
}

/// Whether all ranks see the first one's folder. Each learns its path.
bool all_see(std::string& folder, Comm& comm) {
  broadcast_text(comm, folder);
  const auto own = static_cast<std::byte>(is_seen(folder));
  std::vector<std::byte> all(static_cast<std::size_t>(comm.ranks()));
  comm.all_gather(std::span(&own, 1), all);
  return std::ranges::find(all, std::byte{0}) == all.end();
}

/// Writes this rank's pieces. The first rank receives all digests, the others nothing.
std::vector<std::byte> write_together(const PiecewiseFile& file, const fs::path& path,
                                      Comm& comm) {
  const std::vector<std::byte> own = file.write_pieces(path, comm.rank());
  std::vector<std::size_t> sizes;
  std::size_t sum = 0;
  for (int rank = 0; rank < comm.ranks(); ++rank) {
    sizes.push_back(file.digest_bytes(rank));
    sum += sizes.back();
  }
  std::vector<std::byte> all(comm.is_first() ? sum : 0);
  comm.gather(own, all, sizes, /*root=*/0);
  return all;
}

}  // namespace

fs::path save_divided(const fs::path& run, const CheckpointContent& content, Comm& comm) {
  CheckpointDraft draft(run, content.state.step);
  const PiecewiseFile model(content.model), optimizer(content.optimizer);
  const fs::path model_path = draft.folder() / kModelFile;
  const fs::path optimizer_path = draft.folder() / kOptimizerFile;
  const fs::path probe = draft.folder() / kProbeFile;
  model.create(model_path);
  optimizer.create(optimizer_path);
  write_atomically(probe, fs::absolute(draft.folder()).string());
  std::string folder = fs::absolute(draft.folder());
  const bool shared = all_see(folder, comm);
  fs::remove(probe);
  if (!shared) {
    fs::remove(model_path);  // they have room for all numbers already
    fs::remove(optimizer_path);
    return write_checkpoint(draft, content);
  }
  const FileMark mark = model.mark(write_together(model, model_path, comm));
  return draft.complete(content, mark,
                        optimizer.mark(write_together(optimizer, optimizer_path, comm)));
}

void help_to_save(const CheckpointContent& content, Comm& comm) {
  std::string folder;
  if (!all_see(folder, comm)) {
    walk_units(content.model);
    walk_units(content.optimizer);
    return;
  }
  write_together(PiecewiseFile(content.model), fs::path(folder) / kModelFile, comm);
  write_together(PiecewiseFile(content.optimizer), fs::path(folder) / kOptimizerFile,
                 comm);
}

void broadcast_text(Comm& comm, std::string& text) {
  std::uint64_t size = text.size();
  comm.broadcast(std::as_writable_bytes(std::span(&size, 1)), /*root=*/0);
  text.resize(size);
  comm.broadcast(std::as_writable_bytes(std::span(text)), /*root=*/0);
}

}  // namespace convoy
