// SPDX-License-Identifier: Apache-2.0
//
// StoreClient: a session with the rendezvous, and the store that comes with it.
//
// A thread of its own sends every second that this process lives and at which step it is,
// and receives events. When the job has failed, or the service is gone, every get() that
// waits ends at once.

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
  std::string settings;  // "name=value" a line
  std::chrono::milliseconds timeout = std::chrono::seconds(300);  // to be admitted
  std::chrono::milliseconds silence = std::chrono::seconds(60);   // of the service
  /// A watched event, or ServiceLost, after which there are no more. Called by the
  /// session's thread; must not wait for the store.
  std::function<void(const JobEvent&)> on_event = nullptr;
};

class StoreClient : public KeyValueStore {
 public:
  /// Connects and is admitted; tries again until `timeout` if the service closes the
  /// connection or does not answer, and then throws PeerError. Throws InputError of kind
  /// `admission` for a wrong token or place, of kind `settings` for other settings than
  /// the job's, naming them.
  explicit StoreClient(StoreClientOptions options);

  /// leave().
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

  /// From now on on_event gets events whose keys begin so, also those already published.
  void watch(const std::string& prefix);

  /// This rank's step, which the service gets within a second. Costs nothing.
  void set_step(std::uint64_t step) { step_.store(step, std::memory_order_relaxed); }

  /// The outcome of the job, if it fails within that time.
  std::optional<JobOutcome> wait_for_outcome(std::chrono::milliseconds timeout);

  /// Ends the session: it is no loss.
  void leave();

 private:
  enum class AfterOutcome { stop, wait };  // whether an answer is awaited after a failure

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

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::uint32_t next_id_ = 1;
  std::map<std::uint32_t, std::optional<Message>>
      answers_;         // requested, perhaps received
  std::string broken_;  // why there will be no answer
  std::optional<JobOutcome> outcome_;

  std::thread thread_;
};

}  // namespace convoy
