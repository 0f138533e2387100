// SPDX-License-Identifier: Apache-2.0
//
// Classification: per-class quality of a classifier.
//
// A ConfusionMatrix counts predictions by true class. Everything else follows from it:
//
//                 predicted
//                 cat  dog       precision of dog = 7 / (2 + 7), of its column
//     true  cat     8    2       recall    of dog = 7 / (3 + 7), of its row
//           dog     3    7       F1               = their harmonic mean
//
// A quotient with denominator 0 is 0. With more than kMostClassesInMatrix classes the
// counts of pairs would take too much memory and are not kept: the scores of classes are
// still exact, but there is no matrix and no list of confused pairs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

/// Replaces control characters and invalid UTF-8 by '?', so that the text can be shown
/// anywhere: on a terminal, in JSON, in XML (where it still has to be escaped).
std::string displayable(std::string_view text);

/// The scores of one class, or an average over classes.
struct ClassScores {
  std::string name;
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  std::uint64_t support = 0;  // samples whose true class it is
};

/// Samples of one class that were predicted as another.
struct ConfusedPair {
  int truth;
  int predicted;
  std::uint64_t count;
  double share;  // of the samples whose true class is `truth`
};

inline constexpr int kMostClassesInMatrix = 1000;

class ConfusionMatrix {
 public:
  /// All counts are zero. Names are stored as displayable() returns them.
  explicit ConfusionMatrix(std::vector<std::string> classes);

  int size() const { return static_cast<int>(classes_.size()); }
  const std::vector<std::string>& classes() const { return classes_; }

  /// Counts `times` samples. Requires: both are classes, 0 <= class < size().
  void add(int truth, int predicted, std::uint64_t times = 1);

  /// Whether it counts pairs of classes.
  bool has_pairs() const { return size() <= kMostClassesInMatrix; }

  /// Requires: has_pairs().
  std::uint64_t count(int truth, int predicted) const {
    return numbers_[at(truth, predicted)];
  }

  /// All counts, one row per true class. Requires: has_pairs().
  std::span<const std::uint64_t> counts() const;

  /// Everything that was counted; add_numbers() of a matrix of the same classes adds it.
  std::span<const std::uint64_t> numbers() const { return numbers_; }
  void add_numbers(std::span<const std::uint64_t> numbers);

  std::uint64_t total() const;
  std::uint64_t correct() const;
  double accuracy() const;

  /// Samples of a class; samples predicted as a class.
  std::uint64_t true_count(int label) const;
  std::uint64_t predicted_count(int label) const;
  /// Both.
  std::uint64_t correct_count(int label) const;

  /// Scores by class.
  std::vector<ClassScores> scores() const;

  /// The mean over classes, unweighted ("macro avg") or weighted by support ("weighted
  /// avg").
  ClassScores macro_average() const;
  ClassScores weighted_average() const;

  /// At most `limit` pairs of different classes, those with the highest count first;
  /// none unless has_pairs().
  std::vector<ConfusedPair> most_confused(std::size_t limit) const;

 private:
  std::size_t at(int truth, int predicted) const;
  std::size_t at(int label) const;

  std::vector<std::string> classes_;
  /// [truth][predicted]; or without pairs: [class][correct, true, predicted].
  std::vector<std::uint64_t> numbers_;
};

/// One row per class, accuracy, the two averages: byte for byte the text of
/// scikit-learn's classification_report(labels=all classes, zero_division=0). Of more
/// than kMostClassesInMatrix classes a line stands for their rows.
std::string classification_report(const ConfusionMatrix& matrix, int digits = 3);

/// The matrix as text, at most 100 columns wide; if there are too many classes for that,
/// one line that says so.
std::string confusion_table(const ConfusionMatrix& matrix);

/// At most `limit` pairs as text: "cat -> dog", the count, the share of all cats.
std::string confused_pairs_table(const ConfusionMatrix& matrix, std::size_t limit = 10);

/// {"accuracy", "correct", "total", "classes": [{"name", "precision", "recall", "f1",
/// "support"}], "macro_average", "weighted_average", "most_confused": [{"true",
/// "predicted", "count", "share"}], at most 100, "confusion_matrix": rows of counts}; the
/// last two are null without has_pairs().
nlohmann::ordered_json classification_json(const ConfusionMatrix& matrix);

}  // namespace convoy
