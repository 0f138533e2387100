// SPDX-License-Identifier: Apache-2.0
//
// ExitCode, under the name that the trainer knows it by.

#pragma once

#include "convoy/base/exit_code.h"  // IWYU pragma: export
