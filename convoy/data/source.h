// SPDX-License-Identifier: Apache-2.0
//
// DataSource: what is known of a dataset before any of it is read.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/shape.h"

namespace convoy {

/// A file of a dataset, as it is once unpacked.
struct DataFile {
  std::string name;
  std::size_t bytes;
  std::string sha256{};  // empty if none is published
};

/// How the files of a form are read.
enum class Format { idx, cifar10, cifar100, sheets, matlab, compact };

/// One of the forms in which a dataset is stored on disk. The files of a half belong
/// together: of idx and sheets the last has the labels, of the others each is a part.
struct DataForm {
  Format format;
  std::vector<DataFile> train;
  std::vector<DataFile> test;
  std::string folder{};  // that its archive unpacks to; may be empty

  std::vector<DataFile> files() const;  // of both halves
};

/// What is known of one half's samples, whatever their form.
struct SplitFacts {
  std::size_t count = 0;
  std::vector<std::size_t> per_class{};  // by label; this and the rest may be unknown
  std::vector<double> channel_means{};   // to four digits
  std::string sha256{};                  // see samples_digest()
};

struct DataSource {
  std::string name{};
  std::string description{};
  std::vector<std::string> classes{};
  Shape shape{};
  SplitFacts train{};
  SplitFacts test{};
  std::vector<DataForm> forms{};  // that are read; none for a dataset made in memory. The
                                  // first is the one that `get` leaves on disk.
  std::string system_folder{};    // under the system's dataset folder; may be empty
  std::string npm_package{};      // that holds the files; may be empty
  std::string how_to_get{};       // a command, for people
};

/// All datasets, the default one first.
std::span<const DataSource> data_sources();

/// Throws InputError of kind `settings`, with the nearest name, if there is none.
const DataSource& find_source(std::string_view name);

}  // namespace convoy
