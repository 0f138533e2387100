// SPDX-License-Identifier: Apache-2.0
//
// StoreClient: a session with the rendezvous, which also is a KeyValueStore.
//
// Its thread sends a heartbeat with the current step every second, and receives events.
// When the job has failed, or the service is gone, every waiting get() ends at once.

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
#include "convoy/rendezvous/job_event.h"
#include "convoy/rendezvous/key_value_store.h"
#include "convoy/rendezvous/store_protocol.h"
#include "convoy/system/descriptor.h"

namespace convoy {

struct StoreClientOptions {
  std::string address;
  int port = 0;
  std::string token;
  Hello hello;           // its settings_hash is filled in
  std::string settings;  // one "name=value" per line
  std::chrono::milliseconds timeout = std::chrono::seconds(300);  // to be admitted
  /// Of the service, after which it is lost.
  std::chrono::milliseconds silence = std::chrono::seconds(60);
  /// Called with a watched event, or with ServiceLost, which is the last one, by the
  /// session's thread; must not wait for the store.
  std::function<void(const JobEvent&)> on_event = nullptr;
};

class StoreClient : public KeyValueStore {
 public:
  /// Connects and is admitted; tries again until `timeout` if the service closes the
  /// connection or does not answer, and then throws PeerError. Throws InputError of kind
  /// `admission` for a wrong token or a rank that is taken, of kind `settings` for
  /// settings that differ from the job's, naming them.
  explicit StoreClient(StoreClientOptions options);

  /// Calls leave().
  ~StoreClient() override;
  StoreClient(const StoreClient&) = delete;
  StoreClient& operator=(const StoreClient&) = delete;

  void set(const std::string& key, std::span<const std::byte> value) override;
  std::vector<std::byte> get(const std::string& key,
                             std::chrono::milliseconds timeout) override;
  void set(const std::string& key, std::string_view text) { set(key, bytes_of(text)); }
  void set(const StoreEntry& entry) { set(entry.key, entry.value); }

  /// Sets the key unless it is set; returns its value.
  Bytes claim(const std::string& key, std::string_view text);

  /// As claim(), without waiting for the answer.
  void propose(const StoreEntry& entry);

  /// From now on on_event receives events whose keys begin with the prefix, including
  /// those already published.
  void watch(const std::string& prefix);

  /// Sets this rank's step, which the service receives within a second.
  void set_step(std::uint64_t step) { step_.store(step, std::memory_order_relaxed); }

  /// Returns the outcome of the job, if it fails within that time.
  std::optional<JobOutcome> wait_for_outcome(std::chrono::milliseconds timeout);

  /// Ends the session; this is not a loss.
  void leave();

 private:
  /// Whether to wait for an answer after the job has failed.
  enum class AfterOutcome { stop, wait };

  void greet(Steady::time_point deadline);
  void run();
  void take(const Message& message);
  void publish(const JobEvent& event);
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

  std::mutex mutex_;  // protects all members below
  std::condition_variable changed_;
  std::uint32_t next_id_ = 1;
  std::map<std::uint32_t, std::optional<Message>> answers_;  // to pending requests
  std::string broken_;  // why there will be no answer
  std::optional<JobOutcome> outcome_;

  std::thread thread_;
};

}  // namespace convoy
