// SPDX-License-Identifier: Apache-2.0

#include "convoy/remote_checkpoints/upload_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "convoy/base/clock.h"
#include "convoy/system/quiet_thread.h"

namespace convoy {
namespace {

// Part of finish()'s time that is reserved for cancelling an exchange and aborting
// multipart uploads at the server. It is at most half of that time.
constexpr double kTidyingSeconds = 4;

std::size_t index(CheckpointRole role) { return static_cast<std::size_t>(role); }

/// Joins the lines and columns of an error's text.
std::string joined_lines(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n') line += ';';
    const bool is_space = c == '\n' || c == ' ';
    if (!is_space || !line.ends_with(' ')) line += is_space ? ' ' : c;
  }
  return line;
}

std::string uploaded(const OpenCheckpoint& checkpoint, std::uint64_t bytes,
                     double seconds, const S3Location& run) {
  const std::string amount = bytes == 0
                                 ? "already there"
                                 : fmt::format("{:.1f} MB in {:.1f} s",
                                               static_cast<double>(bytes) / 1e6, seconds);
  return fmt::format("uploaded {} ({}) to {}", checkpoint.name, amount,
                     checkpoint_place(run, checkpoint.name).text());
}

}  // namespace

UploadQueue::UploadQueue(UploadQueueOptions options)
    : options_(std::move(options)), thread_(quiet_thread([this] { work(); })) {}

UploadQueue::~UploadQueue() {
  close();
  thread_.join();
}

void UploadQueue::submit(const std::filesystem::path& folder, CheckpointRole role) try {
  OpenCheckpoint checkpoint = open_checkpoint(folder);
  const std::lock_guard lock(mutex_);
  if (is_closed_) return;
  waiting_[index(role)] = std::move(checkpoint);
  changed_.notify_all();
} catch (const std::exception& error) {
  set_error(role, error.what());
  say(fmt::format("not uploaded: {}", joined_lines(error.what())));
}

bool UploadQueue::finish(double seconds) {
  const Deadline deadline(seconds);
  const double patience = seconds - std::min(kTidyingSeconds, seconds / 2);
  wait_for(patience, [this] { return !is_busy_ && !waiting_[0] && !waiting_[1]; });
  close();
  wait_for(deadline.left(), [this] { return has_ended_; });
  const std::lock_guard lock(mutex_);
  return has_ended_ && errors_[0].empty() && errors_[1].empty();
}

template <class Condition>
void UploadQueue::wait_for(double seconds, const Condition& holds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), holds);
}

/// Drops waiting uploads, and cancels the running one.
void UploadQueue::close() {
  std::string given_up;
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    for (std::size_t role = 0; role < kRoles; ++role) {
      if (!waiting_[role]) continue;
      given_up = waiting_[role]->name + " was not uploaded: there was no time left";
      errors_[role] = given_up;
      waiting_[role].reset();
    }
    changed_.notify_all();
  }
  cancel_.request_stop();
  if (!given_up.empty()) say(given_up);
}

std::string UploadQueue::last_error() const {
  const std::lock_guard lock(mutex_);
  return errors_[0].empty() ? errors_[1] : errors_[0];
}

void UploadQueue::say(const std::string& message) {
  if (!options_.on_message) return;
  const std::lock_guard lock(message_mutex_);
  options_.on_message(message);
}

void UploadQueue::set_error(CheckpointRole role, const std::string& error) {
  const std::lock_guard lock(mutex_);
  errors_[index(role)] = error;
}

void UploadQueue::work() {
  S3Options transfer = options_.transfer;
  transfer.cancel = cancel_.get_token();
  transfer.on_retry = [this](const std::string& line) { say(line); };
  transfer.on_sent = [this](std::uint64_t bytes) { note_sent(bytes); };
  S3Client client(options_.access, transfer);
  while (auto next = take_next()) {
    upload(client, next->second, next->first);
    const std::lock_guard lock(mutex_);
    is_busy_ = false;
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
}

/// If both roles wait, they take turns, so that neither starves.
std::optional<std::pair<CheckpointRole, OpenCheckpoint>> UploadQueue::take_next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_closed_ || waiting_[0] || waiting_[1]; });
  if (is_closed_) return std::nullopt;
  const auto other =
      turn_ == CheckpointRole::last ? CheckpointRole::best : CheckpointRole::last;
  const CheckpointRole role = waiting_[index(turn_)] ? turn_ : other;
  turn_ = role == turn_ ? other : turn_;
  is_busy_ = true;
  return std::pair(role, *std::exchange(waiting_[index(role)], std::nullopt));
}

void UploadQueue::note_sent(std::uint64_t bytes) {
  current_.sent += bytes;
  if (current_.since_message.seconds() < options_.progress_seconds) return;
  current_.since_message.restart();
  say(fmt::format("uploading {}: {:.1f} of {:.1f} MB", current_.name,
                  static_cast<double>(current_.sent) / 1e6,
                  static_cast<double>(current_.bytes) / 1e6));
}

void UploadQueue::upload(S3Client& client, const OpenCheckpoint& checkpoint,
                         CheckpointRole role) try {
  const Stopwatch watch;
  current_ = {.name = checkpoint.name, .bytes = checkpoint.bytes(), .since_message = {}};
  const std::uint64_t bytes = upload_checkpoint(client, options_.run, checkpoint, role);
  set_error(role, "");
  say(uploaded(checkpoint, bytes, watch.seconds(), options_.run));
} catch (const std::exception& error) {
  set_error(role, error.what());
  say(fmt::format("upload of {} failed: {}", checkpoint.name,
                  joined_lines(error.what())));
}

}  // namespace convoy
