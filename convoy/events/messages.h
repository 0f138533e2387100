// SPDX-License-Identifier: Apache-2.0
//
// Builds the larger messages of tensorboard.proto from our structs. Internal to the
// events module.

#pragma once

#include "convoy/events/event_writer.h"
#include "convoy/events/histogram.h"
#include "convoy/events/tensorboard.pb.h"

namespace convoy::messages {

using namespace convoy_tensorboard;

HistogramProto histogram(const Histogram& histogram);

/// Makes a value of the text plugin, without its tag.
Summary::Value text(std::string_view markdown);

/// The nodes produce fp32.
GraphDef graph(std::span<const GraphNode> nodes);

/// Makes a value of the hparams plugin, without its tag. Times are seconds since 1970.
Summary::Value hparams(const HParamsPluginData& data);
HParamsPluginData experiment(const Hparams& hparams, std::span<const std::string> metrics,
                             double time);
HParamsPluginData session_start(const Hparams& hparams, double time);
HParamsPluginData session_end(bool success, double time);

}  // namespace convoy::messages
