// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/initial_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/checkpoint/foreign_names.h"
#include "convoy/checkpoint/position_resize.h"
#include "convoy/checkpoint/safetensors.h"

namespace convoy {
namespace {

/// Returns the file's tensors by our names for them, without batch counters.
std::map<std::string, std::string> names_in(const SafetensorsFile& file) {
  std::map<std::string, std::string> names;
  for (const std::string& name : file.names()) {
    if (!name.ends_with(".num_batches_tracked")) names[own_name(name)] = name;
  }
  return names;
}

using Dimensions = std::vector<std::size_t>;

/// "fc" of "fc.weight".
std::string layer_of(const Segment& segment) {
  return segment.name.substr(0, segment.name.rfind('.'));
}

/// Whether the segment belongs to the last linear layer, and has that shape for another
/// number of classes.
bool is_head_for_others(const Layout& layout, const Segment& segment,
                        const Dimensions& shape) {
  const auto segments = layout.segments();
  const auto last = std::find_if(segments.rbegin(), segments.rend(),
                                 [](const auto& s) { return s.role == Role::weight; });
  return last != segments.rend() && last->shape.size() == 2 &&
         layer_of(*last) == layer_of(segment) && shape.size() == segment.shape.size() &&
         std::equal(shape.begin() + 1, shape.end(), segment.shape.begin() + 1);
}

InputError other_shape(const std::filesystem::path& path, const std::string& name,
                       const Dimensions& found, const Segment& segment) {
  return {InputKind::data,
          {.where = path.string() + ": tensor " + name,
           .found = fmt::format("shape {}", found),
           .expected = fmt::format("shape {}", segment.shape),
           .hint = "only the last linear layer may be for another number of classes"}};
}

std::string line(std::string_view what, const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("\n          {}: {}", what, join(names));
}

/// A tensor of a file.
struct FoundTensor {
  const std::filesystem::path& path;
  const SafetensorsFile& file;
  const std::string& name;

  Dimensions shape() const { return file.shape(name); }
};

void load_resized(const FoundTensor& tensor, std::span<float> values) {
  const Dimensions shape = tensor.shape();
  std::vector<float> positions(shape[1] * shape[2]);
  tensor.file.copy_values(tensor.name, positions);
  resize_positions(positions, values, shape[2]);
}

void load_tensor(const FoundTensor& tensor, const LoadedPart& part,
                 const Segment& segment, InitialWeights& found) {
  const std::span<float> values = part.numbers.view(segment.range);
  const Dimensions shape = tensor.shape();
  if (shape == segment.shape) {
    tensor.file.copy_values(tensor.name, values);
    found.matched.push_back(segment.name);
  } else if (segment.role == Role::embedding &&
             can_resize_positions(shape, segment.shape)) {
    load_resized(tensor, values);
    found.resized.push_back(segment.name);
  } else if (is_head_for_others(part.layout, segment, shape)) {
    found.head.push_back(segment.name);
    found.classes_in_file = shape.front();
  } else {
    throw other_shape(tensor.path, tensor.name, shape, segment);
  }
}

}  // namespace

std::string InitialWeights::summary() const {
  const std::size_t loaded = matched.size() + resized.size();
  return fmt::format("{} of {} tensors", loaded, loaded + missing.size() + head.size()) +
         line("resized to this image size", resized) +
         line(fmt::format("for {} classes there, so initialized anew", classes_in_file),
              head) +
         line("not in the file", missing) + line("left over", left_over);
}

InitialWeights load_initial_weights(const std::filesystem::path& from,
                                    std::initializer_list<LoadedPart> parts) {
  const std::filesystem::path path =
      is_directory(from) ? find_checkpoint(from) / "model.safetensors" : from;
  const SafetensorsFile file = SafetensorsFile::read(path);
  std::map<std::string, std::string> names = names_in(file);
  InitialWeights found;
  for (const LoadedPart& part : parts) {
    for (const Segment& segment : part.layout.segments()) {
      const auto name = names.extract(segment.name);
      if (name.empty()) {
        found.missing.push_back(segment.name);
      } else {
        load_tensor({path, file, name.mapped()}, part, segment, found);
      }
    }
  }
  for (const auto& [name, full_name] : names) found.left_over.push_back(full_name);
  if (!found.matched.empty()) return found;
  throw InputError(
      InputKind::data,
      {.where = path,
       .found = fmt::format("{} tensors, none of which fits by name and shape",
                            file.names().size()),
       .expected = "weights of this model under PyTorch's names",
       .hint = "the file belongs to another model"});
}

}  // namespace convoy
