// SPDX-License-Identifier: Apache-2.0
//
// The job's token: the secret that admits a process to the rendezvous.
//
// It comes from CONVOY_TOKEN, or from the file that CONVOY_TOKEN_FILE names, never from a
// command line, which all users of a machine can read.

#pragma once

#include <optional>
#include <string>

#include "convoy/base/error.h"
#include "convoy/job/job_placement.h"

namespace convoy {

/// The token that the environment gives, if it gives one. Throws InputError of kind
/// `admission` for one that is too short, and for a file that others may read.
std::optional<std::string> token_of_environment(const Environment& environment);

/// A new one: 32 random bytes in hexadecimal digits.
std::string random_token();

/// The error for a job on several machines without a token.
InputError no_token_error();

}  // namespace convoy
