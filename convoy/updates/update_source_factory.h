// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>

namespace convoy {

class UpdateSource;
struct TrainingContext;

/// Makes the source of a run's updates, which borrows what the context does.
using UpdateSourceFactory =
    std::function<std::unique_ptr<UpdateSource>(const TrainingContext&)>;

}  // namespace convoy
