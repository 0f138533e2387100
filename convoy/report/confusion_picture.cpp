// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/confusion_picture.h"

#include <fmt/format.h>

#include "convoy/base/text.h"
#include "convoy/report/heat_map.h"

namespace convoy {

std::string confusion_png(const ConfusionMatrix& matrix, const std::string& title) {
  return heat_map_png(
      {.title = title,
       .note = fmt::format("accuracy {:.2f} % ({} of {})", 100 * matrix.accuracy(),
                           with_commas(matrix.correct()), with_commas(matrix.total())),
       .row_axis = "true",
       .column_axis = "predicted",
       .rows = matrix.classes(),
       .columns = matrix.classes(),
       .counts = {matrix.counts().begin(), matrix.counts().end()}});
}

}  // namespace convoy
