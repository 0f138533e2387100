// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/initial_weights.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/checkpoint/safetensors.h"

namespace convoy {
namespace {

std::string without_prefixes(std::string_view name) {
  for (const std::string_view prefix : {"module.", "model.", "_orig_mod."}) {
    if (name.starts_with(prefix)) return without_prefixes(name.substr(prefix.size()));
  }
  return std::string(name);
}

/// Returns the file's tensors by their names without prefixes, without batch counters.
std::map<std::string, std::string> names_in(const SafetensorsFile& file) {
  std::map<std::string, std::string> names;
  for (const std::string& name : file.names()) {
    if (!name.ends_with(".num_batches_tracked")) names[without_prefixes(name)] = name;
  }
  return names;
}

std::string line(std::string_view what, const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("\n          {}: {}", what, join(names));
}

}  // namespace

std::string InitialWeights::summary() const {
  const std::size_t all = matched.size() + missing.size() + other_shape.size();
  return fmt::format("{} of {} tensors", matched.size(), all) +
         line("not in the file", missing) + line("of another shape there", other_shape) +
         line("left over", left_over);
}

InitialWeights load_initial_weights(const std::filesystem::path& path,
                                    std::initializer_list<LoadedPart> parts) {
  const SafetensorsFile file = SafetensorsFile::read(path);
  std::map<std::string, std::string> names = names_in(file);
  InitialWeights found;
  for (const LoadedPart& part : parts) {
    for (const Segment& segment : part.layout.segments()) {
      const auto name = names.extract(segment.name);
      if (name.empty()) {
        found.missing.push_back(segment.name);
      } else if (file.shape(name.mapped()) != segment.shape) {
        found.other_shape.push_back(segment.name);
      } else {
        file.copy_values(name.mapped(), part.numbers.view(segment.range));
        found.matched.push_back(segment.name);
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
