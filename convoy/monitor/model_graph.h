// SPDX-License-Identifier: Apache-2.0
//
// A model as a graph, for TensorBoard's Graphs page: the inputs and outputs of each
// layer, and its tensors.
//
//   input -> conv1/Conv2D -> relu -> max_pool -> ...
//            conv1/weight ^
//
// Dots in names become scopes, which the page can collapse. A layer with a name is a
// scope with an operation and its tensors. A layer without a name is placed next to its
// neighbours.

#pragma once

#include <vector>

#include "convoy/events/event_writer.h"
#include "convoy/network/model.h"

namespace convoy {

/// The batch dimension is not fixed, so the first size of every output is -1.
std::vector<GraphNode> model_graph(const Model& model);

}  // namespace convoy
