// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/classification.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/report/text_width.h"

namespace convoy {
namespace {

constexpr std::size_t kPairsInJson = 100;

// What is counted of a class where pairs of classes are not.
constexpr std::size_t kCorrect = 0, kTrue = 1, kPredicted = 2, kNumbersOfClass = 3;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

double harmonic_mean(double a, double b) { return ratio(2 * a * b, a + b); }

/// Returns the length of the UTF-8 character at the beginning of `text`, or 0 if it is
/// invalid. Follows table 3-7 of the Unicode standard: neither overlong forms nor
/// surrogates.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0), second = byte(1);
  const auto tails = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if ((byte(i) & 0xC0) != 0x80) return false;
    }
    return true;
  };
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tails(1, 2) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool bad = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F);
    return !bad && tails(1, 3) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool bad = (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return !bad && tails(1, 4) ? 4 : 0;
  }
  return 0;
}

/// Whether a character can be shown on a terminal and in XML: no control character (C0,
/// DEL, C1) and neither U+FFFE nor U+FFFF.
bool is_plain(std::string_view character) {
  if (character.size() == 1) return character[0] >= ' ' && character[0] != 0x7F;
  if (character.size() == 2 && character[0] == '\xC2') {
    return static_cast<unsigned char>(character[1]) >= 0xA0;
  }
  return character != "\xEF\xBF\xBE" && character != "\xEF\xBF\xBF";
}

/// Adds in NumPy's order: eight running sums within a block of 128, blocks by halves. So
/// a mean that lies between two printed numbers is rounded as in scikit-learn.
double numpy_sum(std::span<const double> values) {
  constexpr std::size_t kMicrobatches = 8, kBlock = 128;
  if (values.size() > kBlock) {
    const std::size_t half = values.size() / 2 / kMicrobatches * kMicrobatches;
    return numpy_sum(values.first(half)) + numpy_sum(values.subspan(half));
  }
  double sums[kMicrobatches] = {};
  const std::size_t even = values.size() / kMicrobatches * kMicrobatches;
  for (std::size_t i = 0; i < even; ++i) sums[i % kMicrobatches] += values[i];
  double sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
               ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  for (const double value : values.subspan(even)) sum += value;
  return sum;
}

template <class Weight>
ClassScores average(const ConfusionMatrix& matrix, std::string name,
                    const Weight& weight) {
  ClassScores mean{.name = std::move(name), .support = matrix.total()};
  const std::vector<ClassScores> all = matrix.scores();
  std::vector<double> terms(all.size());
  const auto sum = [&](const auto& term) {
    std::ranges::transform(all, terms.begin(), term);
    return numpy_sum(terms);
  };
  const double weights = sum(weight);
  for (double ClassScores::*score :
       {&ClassScores::precision, &ClassScores::recall, &ClassScores::f1}) {
    mean.*score = ratio(
        sum([&](const ClassScores& one) { return one.*score * weight(one); }), weights);
  }
  return mean;
}

/// Pads with blanks on the left. fmt would count some characters as two columns wide.
std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, display_width(text)), ' ') + text;
}

std::string report_row(const ClassScores& scores, std::size_t width, int digits) {
  return fmt::format("{}  {:>9.{}f} {:>9.{}f} {:>9.{}f} {:>9}\n",
                     right_aligned(scores.name, width), scores.precision, digits,
                     scores.recall, digits, scores.f1, digits, scores.support);
}

std::string report_rows(const ConfusionMatrix& matrix, std::size_t width, int digits) {
  std::string text;
  for (const ClassScores& scores : matrix.scores()) {
    text += report_row(scores, width, digits);
  }
  return text;
}

/// Makes a table with the column heads `heads` and one row per class. Empty if it is too
/// wide.
std::string matrix_text(const ConfusionMatrix& matrix,
                        const std::vector<std::string>& rows,
                        const std::vector<std::string>& heads) {
  const std::size_t side = std::max(widest(rows), std::string_view("true").size());
  const std::uint64_t most = std::ranges::max(matrix.counts());
  const std::size_t cell = 2 + std::max(widest(heads), fmt::formatted_size("{}", most));
  if (side + cell * heads.size() > kTableColumns) return "";

  std::string text = fmt::format("{:>{}}  predicted\n{:<{}}", "", side, "true", side);
  for (const std::string& head : heads) text += fmt::format("{:>{}}", head, cell);
  text += "\n";
  for (int truth = 0; truth < matrix.size(); ++truth) {
    text += fmt::format("{:<{}}", rows[truth], side);
    for (int predicted = 0; predicted < matrix.size(); ++predicted) {
      text += fmt::format("{:>{}}", matrix.count(truth, predicted), cell);
    }
    text += "\n";
  }
  return text;
}

/// Makes a table whose columns are headed by numbers, and rows by number and name.
std::string numbered_matrix_text(const ConfusionMatrix& matrix) {
  std::vector<std::string> rows, heads;
  const std::size_t digits = std::to_string(matrix.size() - 1).size();
  for (int label = 0; label < matrix.size(); ++label) {
    heads.push_back(std::to_string(label));
    rows.push_back(fmt::format("{:>{}} {:.20}", label, digits, matrix.classes()[label]));
  }
  return matrix_text(matrix, rows, heads);
}

nlohmann::ordered_json scores_json(const ClassScores& scores) {
  return {{"name", scores.name},
          {"precision", scores.precision},
          {"recall", scores.recall},
          {"f1", scores.f1},
          {"support", scores.support}};
}

nlohmann::ordered_json rows_json(const ConfusionMatrix& matrix) {
  if (!matrix.has_pairs()) return nullptr;
  auto rows = nlohmann::ordered_json::array();
  const auto size = static_cast<std::size_t>(matrix.size());
  for (std::size_t truth = 0; truth < size; ++truth) {
    const auto row = matrix.counts().subspan(truth * size, size);
    rows.push_back(std::vector<std::uint64_t>(row.begin(), row.end()));
  }
  return rows;
}

nlohmann::ordered_json pairs_json(const ConfusionMatrix& matrix) {
  if (!matrix.has_pairs()) return nullptr;
  auto list = nlohmann::ordered_json::array();
  for (const ConfusedPair& pair : matrix.most_confused(kPairsInJson)) {
    list.push_back({{"true", matrix.classes()[pair.truth]},
                    {"predicted", matrix.classes()[pair.predicted]},
                    {"count", pair.count},
                    {"share", pair.share}});
  }
  return list;
}

}  // namespace

std::string displayable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    result += length > 0 && is_plain(character) ? character : "?";
    text.remove_prefix(character.size());
  }
  return result;
}

ConfusionMatrix::ConfusionMatrix(std::vector<std::string> classes)
    : classes_(std::move(classes)),
      numbers_(classes_.size() * (has_pairs() ? classes_.size() : kNumbersOfClass)) {
  for (std::string& name : classes_) name = displayable(name);
}

std::size_t ConfusionMatrix::at(int label) const {
  check(0 <= label && label < size(), "a class is one of the classes");
  return static_cast<std::size_t>(label) * kNumbersOfClass;
}

std::size_t ConfusionMatrix::at(int truth, int predicted) const {
  check(0 <= truth && truth < size(), "a true class is one of the classes");
  check(0 <= predicted && predicted < size(), "a predicted class is one of the classes");
  check(has_pairs(), "pairs of so many classes are not counted");
  return static_cast<std::size_t>(truth) * classes_.size() +
         static_cast<std::size_t>(predicted);
}

void ConfusionMatrix::add(int truth, int predicted, std::uint64_t times) {
  if (has_pairs()) {
    numbers_[at(truth, predicted)] += times;
    return;
  }
  numbers_[at(truth) + kTrue] += times;
  numbers_[at(predicted) + kPredicted] += times;
  if (truth == predicted) numbers_[at(truth) + kCorrect] += times;
}

std::span<const std::uint64_t> ConfusionMatrix::counts() const {
  check(has_pairs(), "pairs of so many classes are not counted");
  return numbers_;
}

void ConfusionMatrix::add_numbers(std::span<const std::uint64_t> numbers) {
  check(numbers.size() == numbers_.size(), "matrices of the same classes are added");
  std::ranges::transform(numbers, numbers_, numbers_.begin(), std::plus());
}

std::uint64_t ConfusionMatrix::total() const {
  std::uint64_t sum = 0;
  for (int label = 0; label < size(); ++label) sum += true_count(label);
  return sum;
}

std::uint64_t ConfusionMatrix::correct() const {
  std::uint64_t sum = 0;
  for (int label = 0; label < size(); ++label) sum += correct_count(label);
  return sum;
}

double ConfusionMatrix::accuracy() const {
  return ratio(static_cast<double>(correct()), static_cast<double>(total()));
}

std::uint64_t ConfusionMatrix::correct_count(int label) const {
  return has_pairs() ? count(label, label) : numbers_[at(label) + kCorrect];
}

std::uint64_t ConfusionMatrix::true_count(int label) const {
  if (!has_pairs()) return numbers_[at(label) + kTrue];
  std::uint64_t sum = 0;
  for (int predicted = 0; predicted < size(); ++predicted) sum += count(label, predicted);
  return sum;
}

std::uint64_t ConfusionMatrix::predicted_count(int label) const {
  if (!has_pairs()) return numbers_[at(label) + kPredicted];
  std::uint64_t sum = 0;
  for (int truth = 0; truth < size(); ++truth) sum += count(truth, label);
  return sum;
}

std::vector<ClassScores> ConfusionMatrix::scores() const {
  std::vector<ClassScores> scores;
  for (int label = 0; label < size(); ++label) {
    const auto right = static_cast<double>(correct_count(label));
    const std::uint64_t support = true_count(label);
    const double precision = ratio(right, static_cast<double>(predicted_count(label)));
    const double recall = ratio(right, static_cast<double>(support));
    scores.push_back({.name = classes_[label],
                      .precision = precision,
                      .recall = recall,
                      .f1 = harmonic_mean(precision, recall),
                      .support = support});
  }
  return scores;
}

ClassScores ConfusionMatrix::macro_average() const {
  return average(*this, "macro avg", [](const ClassScores&) { return 1.0; });
}

ClassScores ConfusionMatrix::weighted_average() const {
  return average(*this, "weighted avg", [](const ClassScores& scores) {
    return static_cast<double>(scores.support);
  });
}

std::vector<ConfusedPair> ConfusionMatrix::most_confused(std::size_t limit) const {
  std::vector<ConfusedPair> pairs;
  if (!has_pairs()) return pairs;
  for (int truth = 0; truth < size(); ++truth) {
    const auto support = static_cast<double>(true_count(truth));
    for (int predicted = 0; predicted < size(); ++predicted) {
      const std::uint64_t times = count(truth, predicted);
      if (truth == predicted || times == 0) continue;
      pairs.push_back({truth, predicted, times, static_cast<double>(times) / support});
    }
  }
  std::ranges::stable_sort(pairs, std::ranges::greater(), &ConfusedPair::count);
  pairs.resize(std::min(limit, pairs.size()));
  return pairs;
}

std::string classification_report(const ConfusionMatrix& matrix, int digits) {
  const ClassScores weighted = matrix.weighted_average();
  const std::size_t width = std::max(widest(matrix.classes()), weighted.name.size());
  std::string text = fmt::format("{:>{}}  {:>9} {:>9} {:>9} {:>9}\n\n", "", width,
                                 "precision", "recall", "f1-score", "support");
  text += matrix.has_pairs() ? report_rows(matrix, width, digits)
                             : fmt::format("{} classes, too many for a row each\n",
                                           with_commas(matrix.size()));
  // Computed as F1, whose last bit may differ from that of the plain quotient.
  const double accuracy = harmonic_mean(matrix.accuracy(), matrix.accuracy());
  text += fmt::format("\n{:>{}}  {:>9} {:>9} {:>9.{}f} {:>9}\n", "accuracy", width, "",
                      "", accuracy, digits, matrix.total());
  text += report_row(matrix.macro_average(), width, digits);
  return text + report_row(weighted, width, digits);
}

std::string confusion_table(const ConfusionMatrix& matrix) {
  if (matrix.size() == 0) return "no classes\n";
  if (!matrix.has_pairs()) {
    return fmt::format("{} classes, too many for a confusion matrix (at most {})\n",
                       with_commas(matrix.size()), with_commas(kMostClassesInMatrix));
  }
  for (const std::string& text : {matrix_text(matrix, matrix.classes(), matrix.classes()),
                                  numbered_matrix_text(matrix)}) {
    if (!text.empty()) return text;
  }
  return fmt::format("{} classes, too many for a table of text\n", matrix.size());
}

std::string confused_pairs_table(const ConfusionMatrix& matrix, std::size_t limit) {
  if (!matrix.has_pairs()) return "most confused: not counted\n";
  const std::vector<ConfusedPair> pairs = matrix.most_confused(limit);
  if (pairs.empty()) return "most confused: none, every prediction was right\n";
  std::vector<std::string> names;
  for (const ConfusedPair& pair : pairs) {
    names.push_back(fmt::format("{:.32} -> {:.32}", matrix.classes()[pair.truth],
                                matrix.classes()[pair.predicted]));
  }
  const std::string head = "most confused: true -> predicted";
  const std::size_t width = std::max(head.size(), widest(names));
  std::string text =
      fmt::format("{:<{}}  {:>9}  {:>9}\n", head, width, "count", "of true");
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::string blanks(width - display_width(names[i]), ' ');
    text += fmt::format("{}{}  {:>9}  {:>7.1f} %\n", names[i], blanks,
                        with_commas(pairs[i].count), 100 * pairs[i].share);
  }
  return text;
}

nlohmann::ordered_json classification_json(const ConfusionMatrix& matrix) {
  auto classes = nlohmann::ordered_json::array();
  for (const ClassScores& scores : matrix.scores())
    classes.push_back(scores_json(scores));
  return {{"accuracy", matrix.accuracy()},
          {"correct", matrix.correct()},
          {"total", matrix.total()},
          {"classes", std::move(classes)},
          {"macro_average", scores_json(matrix.macro_average())},
          {"weighted_average", scores_json(matrix.weighted_average())},
          {"most_confused", pairs_json(matrix)},
          {"confusion_matrix", rows_json(matrix)}};
}

}  // namespace convoy
