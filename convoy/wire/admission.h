// SPDX-License-Identifier: Apache-2.0
//
// Admission: a listening socket that turns unknown connections into connections whose
// peer has proved the job's token (token_proof.h). Rendezvous and parameter servers admit
// through it.
//
//   while (...) {
//     std::vector<pollfd> polled;
//     admission.add_to(polled);
//     ::poll(...);
//     for (ProvenPeer& peer : admission.advance()) ...
//   }
//
// It never blocks, and it belongs to one thread. Strangers are dropped when they send
// something else, when their time is up, or, at random, when there are too many. Answers
// that have arrived are read before anyone is dropped, and a peer that has proved the
// token belongs to the caller: no flood of connections closes it. A client that was
// dropped tries again (connect_with_token()).

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
  /// Called with one line per refusal, by the thread that calls advance(). After some
  /// hundred lines no more are logged.
  std::function<void(const std::string&)> log = nullptr;
};

/// A connection whose peer has proved the token. Its socket does not block; nothing that
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

  /// Accepts, sends challenges, reads answers. Returns newly proven peers.
  std::vector<ProvenPeer> advance();

  /// Logs a refusal, also of a peer that is proven but refused by the caller.
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
  Step classify(const Stranger& stranger, std::string& reason) const;

  Descriptor listening_;
  AdmissionOptions options_;
  std::vector<Stranger> strangers_;
  std::minstd_rand random_{std::random_device{}()};
  /// The last accept() failed because descriptors are exhausted.
  bool out_of_files_ = false;
  int refusals_ = 0;
};

}  // namespace convoy
