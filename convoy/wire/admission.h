// SPDX-License-Identifier: Apache-2.0
//
// Admission: a listening socket, and the way from a connection whose owner is not known
// to one whose owner has proved the job's token (token_proof.h). Rendezvous and parameter
// servers admit through it.
//
//   while (...) {
//     std::vector<pollfd> polled;
//     admission.add_to(polled);
//     ::poll(...);
//     for (ProvenPeer& peer : admission.advance()) ...
//   }
//
// It never blocks, and it belongs to one thread. Strangers are dropped when they send
// something else, when time is up, or, a random one, when there are too many. Answers
// that have arrived are read before anybody is dropped, and a peer that has proved the
// token is the caller's: no flood of connections closes it. A client that was dropped
// tries again (connect_with_token()).

#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/system/descriptor.h"
#include "convoy/wire/token_proof.h"

namespace convoy {

inline constexpr std::size_t kMostStrangers = 256;  // at one listening socket

struct AdmissionOptions {
  std::string token;
  std::chrono::milliseconds time_to_prove = std::chrono::seconds(5);
  /// Called with one line per refusal, by the thread that calls advance(). Strangers may
  /// be many: after some hundred lines there are no more.
  std::function<void(const std::string&)> log = nullptr;
};

/// A connection whose owner has proved the token. Its socket does not block; nothing that
/// follows the proof has been read.
struct ProvenPeer {
  Descriptor socket;
  std::string name;  // address and port
};

class Admission {
 public:
  /// Requires: a listening socket that does not block.
  Admission(Descriptor listening, AdmissionOptions options);

  /// Appends what advance() waits for.
  void add_to(std::vector<pollfd>& polled) const;

  /// Accepts, sends challenges, reads answers. Returns the peers that are new.
  std::vector<ProvenPeer> advance();

  /// Logs a refusal, also of a peer that is proven but not welcome.
  void log_refusal(const std::string& peer, const std::string& reason);

 private:
  struct Stranger {
    Descriptor socket;
    std::string name;
    Nonce nonce;
    Steady::time_point deadline;
    Bytes answer{};  // as far as it has arrived
  };
  enum class Step { waiting, proven, refused };

  bool accept_one();
  void make_room();
  void read_answers(std::vector<ProvenPeer>& proven);
  Step read_answer(Stranger& stranger, std::string& reason) const;
  Step judge(const Stranger& stranger, std::string& reason) const;

  Descriptor listening_;
  AdmissionOptions options_;
  std::vector<Stranger> strangers_;
  std::minstd_rand random_{std::random_device{}()};
  bool out_of_files_ = false;  // the last accept() failed for want of descriptors
  int refusals_ = 0;
};

}  // namespace convoy
