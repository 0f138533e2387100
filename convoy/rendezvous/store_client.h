// SPDX-License-Identifier: Apache-2.0
//
// StoreClient: a session with the rendezvous, and the store that comes with it.
//
// A thread of its own says every second that this process lives, at which step it is, and
// takes in notices. When the job has failed, or the service is gone, whoever waits in
// get() hears it at once.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "convoy/base/clock.h"
#include "convoy/rendezvous/job_keys.h"
#include "convoy/rendezvous/key_value_store.h"
#include "convoy/rendezvous/store_protocol.h"
#include "convoy/system/descriptor.h"

namespace convoy {

struct StoreClientOptions {
  std::string address;
  int port = 0;
  std::string token;
  Hello hello;           // its settings_hash is filled in
  std::string settings;  // "name=value" a line
  std::chrono::milliseconds timeout = std::chrono::seconds(300);  // to be admitted
  std::chrono::milliseconds silence = std::chrono::seconds(60);   // of the service
  /// A watched key was set. Called by the session's thread; must not wait for the store.
  std::function<void(const std::string& key, const Bytes& value)> on_notice = nullptr;
  /// The service is gone, and with it the session. Called once, by the same thread.
  std::function<void(const std::string& why)> on_service_lost = nullptr;
};

class StoreClient : public KeyValueStore {
 public:
  /// Connects and is admitted. Throws InputError of kind `admission` for a wrong token or
  /// place, of kind `settings` for other settings than the job's, naming them, and
  /// PeerError if nobody answers.
  explicit StoreClient(StoreClientOptions options);

  /// leave().
  ~StoreClient() override;
  StoreClient(const StoreClient&) = delete;
  StoreClient& operator=(const StoreClient&) = delete;

  void set(const std::string& key, std::span<const std::byte> value) override;
  std::vector<std::byte> get(const std::string& key,
                             std::chrono::milliseconds timeout) override;
  void set(const std::string& key, std::string_view text) { set(key, bytes_of(text)); }

  /// Sets the key unless it is set; returns the value that stands.
  Bytes claim(const std::string& key, std::string_view text);

  /// As claim(), without waiting for the answer.
  void propose(const std::string& key, std::string_view text);

  /// From now on on_notice hears of keys that begin so, and of those already set.
  void watch(const std::string& prefix);

  /// This rank's step, which the service learns within a second. Costs nothing.
  void set_step(std::uint64_t step) { step_.store(step, std::memory_order_relaxed); }

  /// The outcome on the job, if it has failed within that time.
  std::optional<JobOutcome> wait_for_outcome(std::chrono::milliseconds timeout);

  /// Ends the session: it is no loss.
  void leave();

  /// Ends the session as a crash would.
  void abandon();

 private:
  enum class AfterOutcome { stop, wait };  // what waiting is worth when the job failed

  void prove_and_greet(Steady::time_point deadline);
  void run();
  void take(const Message& message);
  void fail(const std::string& why);
  bool send(const Message& message);
  std::uint32_t ask(Message message);
  Message await(std::uint32_t id, Steady::time_point deadline, const std::string& key,
                AfterOutcome after);
  void end_thread();
  void await_close();

  StoreClientOptions options_;
  Descriptor socket_, wake_;
  std::atomic<std::uint64_t> step_ = 0;
  std::atomic<bool> leaving_ = false;
  std::mutex sending_;

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::uint32_t next_id_ = 1;
  std::map<std::uint32_t, std::optional<Message>> answers_;  // asked for, perhaps there
  std::string broken_;                                       // why no answer will come
  std::optional<JobOutcome> verdict_;

  std::thread thread_;
};

}  // namespace convoy
