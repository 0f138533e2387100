// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>

namespace convoy {

class UpdateSource;
struct TrainingContext;

/// Makes the update source of a run, which borrows what the context borrows.
using UpdateSourceFactory =
    std::function<std::unique_ptr<UpdateSource>(const TrainingContext&)>;

}  // namespace convoy
