// SPDX-License-Identifier: Apache-2.0
//
// The table of published hyper-parameters in docs/from-async.md, and the experiments that
// it names.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>

#include "convoy/base/text.h"
#include "convoy/settings/settings_resolve.h"
#include "convoy/setup/workload.h"
#include "convoy/system/file.h"
#include "test_places.h"

namespace convoy {
namespace {

/// The cells of a row of a Markdown table, without spaces around them.
std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  std::istringstream text(row.substr(1));
  for (std::string cell; std::getline(text, cell, '|');) {
    const std::size_t first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos
                        ? ""
                        : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return cells;
}

/// The rows of the document's table that has an experiment in its last column.
std::vector<std::vector<std::string>> published_rows() {
  std::vector<std::vector<std::string>> rows;
  std::istringstream text(
      read_text(std::filesystem::path(CONVOY_SOURCE_DIR) / "docs/from-async.md"));
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("|")) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() == 7 && cells[6].starts_with("`")) rows.push_back(cells);
  }
  return rows;
}

/// "Fashion-MNIST" as a dataset is named: fashion_mnist; CIFAR-10: cifar10.
std::string setting_name(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(c == '-' ? '_' : std::tolower(c));
  });
  for (const char* digits : {"_100", "_10", "_5"}) {
    if (text.ends_with(digits)) text.erase(text.rfind('_'), 1);
  }
  return text == "resnet_18" ? "resnet18_cifar" : text;
}

TEST(PublishedRows, AreWhatTheirExperimentsTrain) {
  const std::vector<std::vector<std::string>> rows = published_rows();
  EXPECT_EQ(rows.size(), 11u);
  for (const std::vector<std::string>& row : rows) {
    const std::string name = row[6].substr(1, row[6].size() - 2);
    const Settings settings = resolve_settings(
        {"experiment=" + name}, {},
        {.names = known_names(),
         .folders = {std::filesystem::path(CONVOY_SOURCE_DIR) / "configs"}});

    EXPECT_EQ(settings.data.name, setting_name(row[0])) << name;
    EXPECT_EQ(settings.model.name, setting_name(row[1])) << name;
    EXPECT_EQ(choice_name(settings.optimizer.name), setting_name(row[2])) << name;
    EXPECT_EQ(settings.optimizer.lr, number_in(row[3])) << name;
    EXPECT_EQ(settings.optimizer.momentum, number_in(row[4]).value_or(0.9)) << name;
    EXPECT_EQ(settings.train.batch_size, number_in(row[5])) << name;
    EXPECT_EQ(settings.train.epochs, 6) << name;
  }
}

}  // namespace
}  // namespace convoy
