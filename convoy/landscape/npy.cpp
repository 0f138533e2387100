// SPDX-License-Identifier: Apache-2.0

#include "convoy/landscape/npy.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "convoy/base/error.h"
#include "convoy/base/range.h"

namespace convoy {

static_assert(std::endian::native == std::endian::little, "the file says '<f8'");

std::string npy_matrix(const std::vector<std::vector<double>>& rows) {
  constexpr std::size_t kPrefix = 10, kAlignment = 64;  // magic, version, header's length
  const std::size_t columns = rows.empty() ? 0 : rows.front().size();
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}",
                  rows.size(), columns);
  header.resize(round_up(kPrefix + header.size() + 1, kAlignment) - kPrefix - 1, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  std::string content("\x93NUMPY\x01\x00", 8);
  content.append(reinterpret_cast<const char*>(&length), sizeof(length));
  content += header;
  for (const std::vector<double>& row : rows) {
    check(row.size() == columns, "rows are of the same length");
    content.append(reinterpret_cast<const char*>(row.data()),
                   row.size() * sizeof(double));
  }
  return content;
}

}  // namespace convoy
