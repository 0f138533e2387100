// SPDX-License-Identifier: Apache-2.0

#include "convoy/plot/confusion_chart.h"

#include <fmt/format.h>

#include "convoy/base/text.h"

namespace convoy {

HeatMap confusion_chart(const ConfusionMatrix& matrix, const std::string& title) {
  return {.head = {.title = title,
                   .note = fmt::format(
                       "accuracy {:.2f} % ({} of {})", 100 * matrix.accuracy(),
                       with_commas(matrix.correct()), with_commas(matrix.total()))},
          .row_axis = "true",
          .column_axis = "predicted",
          .rows = matrix.classes(),
          .columns = matrix.classes(),
          .counts = {matrix.counts().begin(), matrix.counts().end()}};
}

}  // namespace convoy
