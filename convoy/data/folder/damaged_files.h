// SPDX-License-Identifier: Apache-2.0
//
// DamagedFiles: the files that could not be decoded, each noted once.

#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace convoy {

/// Any number of threads may call the methods.
class DamagedFiles {
 public:
  /// `message` names the file and says what is wrong with it.
  void note(std::size_t sample, const std::string& message) {
    const std::lock_guard lock(mutex_);
    if (samples_.insert(sample).second) news_.push_back(message);
  }

  std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return samples_.size();
  }

  /// The messages since the last call.
  std::vector<std::string> take_news() {
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, {});
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::size_t> samples_;
  std::vector<std::string> news_;
};

}  // namespace convoy
