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

/// Returns the token that the environment provides, if any. Throws InputError of kind
/// `admission` if it is too short, or its file is readable by other users.
std::optional<std::string> token_of_environment(const Environment& environment);

/// Generates 32 random bytes in hexadecimal digits.
std::string random_token();

/// Makes the error of a job on several machines without a token.
InputError no_token_error();

}  // namespace convoy
