// SPDX-License-Identifier: Apache-2.0
//
// A model as a graph, for TensorBoard's Graphs page: what each layer takes and gives, and
// its tensors.
//
//   input -> conv1/Conv2D -> relu -> max_pool -> ...
//            conv1/weight ^
//
// Dots of names become scopes, which the page folds. A layer with a name is a scope of
// its own: an operation and its tensors. One without lies beside its neighbours.

#pragma once

#include <vector>

#include "convoy/events/event_writer.h"
#include "convoy/network/model.h"

namespace convoy {

/// Of any number of samples, so the first size of every result is -1.
std::vector<GraphNode> model_graph(const Model& model);

}  // namespace convoy
