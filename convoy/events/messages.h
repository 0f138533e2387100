// SPDX-License-Identifier: Apache-2.0
//
// The larger messages of tensorboard.proto, made from our own structs. Internal to the
// events: this is where protobuf is known.

#pragma once

#include "convoy/events/event_writer.h"
#include "convoy/events/histogram.h"
#include "convoy/events/tensorboard.pb.h"

namespace convoy::messages {

using namespace convoy_tensorboard;

HistogramProto histogram(const Histogram& histogram);

/// A value of the plugin text, without its tag.
Summary::Value text(std::string_view markdown);

/// Nodes give fp32.
GraphDef graph(std::span<const GraphNode> nodes);

/// A value of the plugin hparams, without its tag. Times are seconds since 1970.
Summary::Value hparams(const HParamsPluginData& data);
HParamsPluginData experiment(const Hparams& hparams, std::span<const std::string> metrics,
                             double time);
HParamsPluginData session_start(const Hparams& hparams, double time);
HParamsPluginData session_end(bool success, double time);

}  // namespace convoy::messages
