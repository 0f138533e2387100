// SPDX-License-Identifier: Apache-2.0
//
// WorkerSession: a server's connection to one worker, with its own thread. Internal to
// ServerPort.
//
// The peer has proved the token. With its hello it takes a worker's slot: its pushes are
// received into the slot's memory, and the slot's answers are sent to it. While a worker
// waits for an answer it is sent beats, so that it knows that the server is alive.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "convoy/ps_transport/frame_stream.h"
#include "convoy/ps_transport/shared_numbers.h"
#include "convoy/ps_transport/worker_slots.h"
#include "convoy/wire/admission.h"

namespace convoy {

/// What the sessions of a server share. Borrowed.
struct SessionContext {
  const ServerPortOptions& options;
  WorkerSlots& slots;
  PortTraffic& traffic;
  std::function<void(const std::string&)> log;  // may be called by any thread
};

class WorkerSession {
 public:
  /// Starts to serve. Throws std::system_error if the system has no thread or descriptor
  /// for it.
  WorkerSession(ProvenPeer peer, const SessionContext& context);
  /// Cuts the session, and waits for its end.
  ~WorkerSession();
  WorkerSession(const WorkerSession&) = delete;
  WorkerSession& operator=(const WorkerSession&) = delete;

  // Any thread may call these.

  /// Whether the session has ended.
  bool is_done() const { return done_; }
  void wake();
  /// Ends the session soon. `why` must be a string literal.
  void cut(const char* why);
  /// Starts to find out whether the worker is alive.
  void probe();
  /// Whether data or an acknowledgement was received since probe().
  bool shows_life() const;

 private:
  enum class Probe { none, asked, sent };

  void run();
  void admit();
  HelloBody receive_hello();
  void serve();
  bool wait_for_worker();
  bool take_frame();
  void take_push(bool shared);
  void receive_numbers();
  void unpack_numbers();
  void answer();
  void say(const Answer& answer);
  void end(const std::string& how, bool said_goodbye);
  void reject(const Rejection& rejection);

  SessionContext context_;
  FrameStream stream_;
  Descriptor wake_;
  std::string peer_;
  std::atomic<bool> done_ = false;
  std::atomic<const char*> cut_why_ = nullptr;
  std::atomic<Probe> probe_ = Probe::none;
  std::atomic<std::uint64_t> received_at_probe_ = 0;

  // Used by the thread only, once it runs.
  int worker_ = -1;
  HelloBody sizes_;
  std::shared_ptr<SharedNumbers> shared_;  // if the worker is on this machine
  bool shares_ = false;                    // whether the last push was shared
  std::chrono::milliseconds beat_{1000};
  bool owes_ = true;  // whether an answer is due

  std::thread thread_;
};

}  // namespace convoy
