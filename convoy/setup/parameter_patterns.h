// SPDX-License-Identifier: Apache-2.0
//
// Parameters that settings choose by patterns of their names: which are frozen
// (train.freeze), and which have a learning rate and weight decay of their own
// (optimizer.groups).
//
// A pattern is a shell's: '*', '?' and '[...]' stand for some characters of a name.

#pragma once

#include <string>
#include <vector>

#include "convoy/optimizer/param_groups.h"
#include "convoy/params/layout.h"
#include "convoy/settings/settings.h"
#include "convoy/setup/training_rig.h"

namespace convoy {

/// Returns the segments whose names match. Throws InputError of kind `settings`, naming
/// the setting `where`, if there is none.
std::vector<SegmentId> matching_segments(const Layout& layout, const std::string& pattern,
                                         const std::string& where);

/// Freezes what train.freeze and train.whiten say. Throws InputError, also if nothing
/// would be trained.
void freeze_parameters(const TrainSettings& settings, LaidOutModel& model);

/// Returns the rules of optimizer.groups and optimizer.layer_decay, by segment; none if
/// neither is set. Throws InputError.
std::vector<SegmentRule> segment_rules(const OptimizerSettings& settings,
                                       const Layout& layout);

}  // namespace convoy
