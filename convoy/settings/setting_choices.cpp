// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/setting_choices.h"

namespace convoy {
namespace {

/// "avx512+bf16" of avx512_plus_bf16.
std::string with_plus(std::string_view enumerator) {
  constexpr std::string_view kPlus = "_plus_";
  std::string name(enumerator);
  if (const std::size_t at = name.find(kPlus); at != std::string::npos) {
    name.replace(at, kPlus.size(), "+");
  }
  return name;
}

}  // namespace

std::vector<std::string> names_of_enumerators(std::string_view enumerators) {
  std::vector<std::string> names;
  while (!enumerators.empty()) {
    const std::size_t comma = std::min(enumerators.find(','), enumerators.size());
    std::string_view name = enumerators.substr(0, comma);
    if (name.ends_with('_')) name.remove_suffix(1);
    names.push_back(with_plus(name));
    enumerators.remove_prefix(comma);
    enumerators.remove_prefix(
        std::min(enumerators.find_first_not_of(", "), enumerators.size()));
  }
  return names;
}

}  // namespace convoy
