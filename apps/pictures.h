// SPDX-License-Identifier: Apache-2.0
//
// Whether commands draw.

#pragma once

namespace convoy {

/// Whether pictures can be drawn. If not, says so on stderr, once per process.
bool can_draw();

}  // namespace convoy
