// SPDX-License-Identifier: Apache-2.0
//
// CommOptions: which rank of how many, and how it reaches the others.

#pragma once

#include <chrono>
#include <string>

namespace convoy {

enum class Transport {
  automatic,  // shared memory if all ranks are on one machine, else TCP
  tcp,
  shared
};

struct CommOptions {
  int rank = 0;
  int ranks = 1;
  std::chrono::milliseconds timeout{60000};  // the longest wait for a rank's next answer
  std::string address = "127.0.0.1";         // of this machine, to listen on
  Transport transport = Transport::automatic;
  std::string name = "comm";  // distinguishes the Comms of one store
};

}  // namespace convoy
