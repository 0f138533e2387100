// SPDX-License-Identifier: Apache-2.0

#include "convoy/rendezvous/store_client.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/rendezvous/store_roster.h"
#include "convoy/system/quiet_thread.h"
#include "convoy/wire/handshake.h"
#include "convoy/wire/socket.h"

namespace convoy {
namespace {

constexpr auto kBeat = std::chrono::seconds(1);
constexpr auto kToClose = std::chrono::seconds(1);
constexpr auto kMargin = std::chrono::seconds(2);  // for the transmission of an answer

/// Reads exactly one message: what follows is for the session's thread.
std::optional<Message> read_message(int socket, Steady::time_point deadline) {
  constexpr std::size_t kLength = 4;
  MessageBuffer buffer;
  const Bytes length = read_exactly(socket, kLength, deadline);
  if (length.size() < kLength) return std::nullopt;
  buffer.add(length);
  std::size_t count = 0;
  for (std::size_t i = 0; i < kLength; ++i) {
    count |= std::to_integer<std::size_t>(length[i]) << (8 * i);
  }
  if (count > kMostMessage) return std::nullopt;
  buffer.add(read_exactly(socket, count, deadline));
  return buffer.next(kMostMessage);
}

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

/// Returns the lines of `text` that `other` does not have.
std::string only_in(const std::string& text, const std::string& other) {
  const std::set<std::string> others = lines_of(other);
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(text)) {
    if (!others.contains(line)) lines.push_back(line);
  }
  return lines.empty() ? "the same lines" : join(lines);
}

}  // namespace

StoreClient::StoreClient(StoreClientOptions options)
    : options_(std::move(options)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  check(static_cast<bool>(wake_), "the system has an eventfd");
  options_.hello.settings_hash = settings_hash(options_.settings);
  const Steady::time_point deadline = Steady::now() + options_.timeout;
  socket_ =
      connect_with_token({options_.address, options_.port}, options_.token, deadline);
  greet(deadline);
  send({.kind = MessageKind::watch, .key = kFailedKey});
  thread_ = quiet_thread([this] { run(); });
}

StoreClient::~StoreClient() { leave(); }

void StoreClient::greet(Steady::time_point deadline) {
  const std::string where = to_text(ServiceAddress{options_.address, options_.port});
  send({.kind = MessageKind::hello, .value = encode(options_.hello)});
  const std::optional<Message> reply = read_message(socket_.get(), deadline);
  if (!reply) throw PeerError(0, where + " closed the connection");
  if (reply->kind == MessageKind::admitted) return;
  const std::string reason = text_of(reply->value);
  if (reply->number == static_cast<std::uint64_t>(Refusal::settings)) {
    throw InputError(InputKind::settings,
                     {.where = "settings of " + describe(options_.hello),
                      .found = only_in(options_.settings, reason),
                      .expected = only_in(reason, options_.settings) + ", as on node 0",
                      .hint = "start every node with the same settings"});
  }
  throw InputError(InputKind::admission,
                   {.where = where,
                    .found = reason,
                    .expected = "a free place in the job",
                    .hint = "does another process of this job still run?"});
}

void StoreClient::run() {
  MessageBuffer in;
  Steady::time_point last_heard = Steady::now(), next_beat = last_heard;
  while (!leaving_) {
    const Steady::time_point now = Steady::now();
    if (now >= next_beat) {
      send({.kind = MessageKind::beat, .number = step_.load(std::memory_order_relaxed)});
      next_beat = now + kBeat;
    }
    std::array<pollfd, 2> wait{{{socket_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    ::poll(wait.data(), wait.size(), milliseconds_until(next_beat));
    if (wait[0].revents != 0) {
      std::array<std::byte, 1 << 14> block;
      const ssize_t got = ::recv(socket_.get(), block.data(), block.size(), 0);
      if (got <= 0) return fail("the rendezvous is gone: its connection closed");
      last_heard = Steady::now();
      in.add(std::span(block).first(static_cast<std::size_t>(got)));
      while (const auto message = in.next(kMostMessage)) take(*message);
    }
    if (Steady::now() - last_heard > options_.silence) {
      return fail(fmt::format("the rendezvous has been silent for {} s",
                              options_.silence.count() / 1000));
    }
  }
}

void StoreClient::take(const Message& message) {
  if (message.kind == MessageKind::notice) {
    const auto event = decode_job_event(message.key, message.value);
    if (event) publish(*event);
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto asked = answers_.find(message.id);
  if (asked == answers_.end()) return;  // the caller no longer waits
  asked->second = message;
  changed_.notify_all();
}

void StoreClient::publish(const JobEvent& event) {
  if (const auto* failed = std::get_if<JobFailed>(&event)) {
    const std::lock_guard lock(mutex_);
    outcome_ = failed->outcome;
    changed_.notify_all();
  }
  if (options_.on_event) options_.on_event(event);
}

void StoreClient::fail(const std::string& why) {
  if (leaving_) return;
  {
    const std::lock_guard lock(mutex_);
    broken_ = why;
    changed_.notify_all();
  }
  publish(ServiceLost{why});
}

bool StoreClient::send(const Message& message) {
  Bytes bytes;
  append(message, bytes);
  const std::lock_guard lock(sending_);
  return send_all(socket_.get(), bytes);
}

std::uint32_t StoreClient::ask(Message message) {
  {
    const std::lock_guard lock(mutex_);
    message.id = next_id_++;
    answers_[message.id];
  }
  send(message);  // the reading thread notices a failure
  return message.id;
}

Message StoreClient::await(std::uint32_t id, Steady::time_point deadline,
                           const std::string& key, AfterOutcome after) {
  std::unique_lock lock(mutex_);
  const bool over = changed_.wait_until(lock, deadline, [&] {
    const bool ends = outcome_.has_value() && after == AfterOutcome::stop;
    return answers_[id].has_value() || !broken_.empty() || ends;
  });
  const std::optional<Message> answer = answers_.extract(id).mapped();
  if (answer && answer->kind == MessageKind::value) return *answer;
  if (outcome_) throw PeerError(0, "the job has failed: " + outcome_->text);
  if (!broken_.empty()) throw PeerError(0, broken_);
  throw PeerError(
      0, fmt::format("{} for the key {}", over ? "no value in time" : "no answer", key));
}

void StoreClient::set(const std::string& key, std::span<const std::byte> value) {
  send({.kind = MessageKind::set, .key = key, .value = {value.begin(), value.end()}});
}

std::vector<std::byte> StoreClient::get(const std::string& key,
                                        std::chrono::milliseconds timeout) {
  const std::uint32_t id = ask({.kind = MessageKind::get,
                                .number = static_cast<std::uint64_t>(timeout.count()),
                                .key = key});
  return await(id, Steady::now() + timeout + kMargin, key, AfterOutcome::stop).value;
}

Bytes StoreClient::claim(const std::string& key, std::string_view text) {
  const std::uint32_t id =
      ask({.kind = MessageKind::claim, .key = key, .value = bytes_of(text)});
  return await(id, Steady::now() + options_.silence, key, AfterOutcome::wait).value;
}

void StoreClient::propose(const StoreEntry& entry) {
  send({.kind = MessageKind::claim, .key = entry.key, .value = bytes_of(entry.value)});
}

void StoreClient::watch(const std::string& prefix) {
  send({.kind = MessageKind::watch, .key = prefix});
}

std::optional<JobOutcome> StoreClient::wait_for_outcome(
    std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout,
                    [&] { return outcome_.has_value() || !broken_.empty(); });
  return outcome_;
}

void StoreClient::leave() {
  if (!thread_.joinable()) return;
  leaving_ = true;
  const bool sent = send({.kind = MessageKind::leave});
  end_thread();
  if (sent) await_close();
}

/// Reads until the service has closed the connection too. Closing a connection with
/// unread data would reset it, and the other side would not see the leave.
void StoreClient::await_close() {
  const Steady::time_point deadline = Steady::now() + kToClose;
  std::array<std::byte, 1 << 14> unread;
  pollfd wait{socket_.get(), POLLIN, 0};
  while (::poll(&wait, 1, milliseconds_until(deadline)) > 0 &&
         ::recv(socket_.get(), unread.data(), unread.size(), 0) > 0) {
  }
}

void StoreClient::end_thread() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(wake_.get(), &one, sizeof(one));
  if (thread_.joinable()) thread_.join();
}

}  // namespace convoy
