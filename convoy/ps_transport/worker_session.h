// SPDX-License-Identifier: Apache-2.0
//
// WorkerSession: a server's connection to one worker, with a thread of its own. Internal
// to ServerPort.
//
// First a stranger, who has to prove knowledge of the token and to say hello within a
// moment; then the holder of a worker's slot, whose pushes are read where the slot wants
// them, and who is told what the slot has for it. While a worker waits for an answer it
// hears every moment that the server lives.

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

namespace convoy {

/// What the sessions of a server share. Borrowed.
struct SessionContext {
  const ServerPortOptions& options;
  WorkerSlots& slots;
  PortTraffic& traffic;
  std::function<void(const std::string&)> log;     // may be called by any thread
  std::function<void(const std::string&)> refuse;  // the same, of who was never served
};

class WorkerSession : public WorkerLine {
 public:
  /// Begins to serve at once. Throws std::system_error if there is no thread to be had.
  WorkerSession(Descriptor socket, const SessionContext& context);
  /// Cuts it, and waits for its end.
  ~WorkerSession() override;

  /// Whether it has ended.
  bool is_done() const { return stage_ == Stage::done; }
  /// Whether it has yet to prove that it knows the token.
  bool is_stranger() const { return stage_ == Stage::stranger; }

  void wake() override;
  void cut(const char* why) override;
  void probe() override;
  bool shows_life() const override;

 private:
  enum class Stage { stranger, known, done };
  enum class Probe { none, asked, sent };

  void run();
  void admit();
  HelloBody receive_hello();
  void serve();
  bool wait_for_worker();
  bool take_frame();
  void take_push(bool shared);
  void receive_numbers();
  void answer();
  void say(const Answer& answer);
  void end(const std::string& how, bool said_goodbye);
  void reject(const Rejection& rejection);

  SessionContext context_;
  FrameStream stream_;
  Descriptor wake_;
  std::string peer_;
  std::atomic<Stage> stage_ = Stage::stranger;
  std::atomic<const char*> cut_why_ = nullptr;
  std::atomic<Probe> probe_ = Probe::none;
  std::atomic<std::uint64_t> received_at_probe_ = 0;

  // The thread's alone, once it runs.
  int worker_ = -1;
  HelloBody sizes_;
  std::shared_ptr<SharedNumbers> shared_;  // if the worker is on this machine
  bool shares_ = false;                    // as its last push has shown
  std::chrono::milliseconds beat_{1000};
  bool owes_ = true;  // an answer

  std::thread thread_;
};

}  // namespace convoy
