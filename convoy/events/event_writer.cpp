// SPDX-License-Identifier: Apache-2.0

#include "convoy/events/event_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>

#include "convoy/base/error.h"
#include "convoy/base/unix_time.h"
#include "convoy/events/histogram.h"
#include "convoy/events/messages.h"
#include "convoy/system/host_name.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "events.out.tfevents.";
constexpr std::int64_t kNone = -1;

/// Returns the machine's name as part of a file name.
std::string host_in_file_name() {
  std::string host = host_name();
  std::ranges::replace(host, '/', '_');
  return host;
}

/// Returns the seconds in the name of an event file; kNone if it is not one.
std::int64_t seconds_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return kNone;
  name.remove_prefix(kPrefix.size());
  std::int64_t seconds = kNone;
  std::from_chars(name.data(), name.data() + name.size(), seconds);
  return seconds;
}

/// Returns the seconds of the newest event file in the folder; kNone if there is none.
std::int64_t last_seconds_in(const fs::path& folder) {
  std::error_code error;
  std::int64_t last = kNone;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    last = std::max(last, seconds_of(entry.path().filename().string()));
  }
  if (error) throw storage_error(folder, "list this folder", error.value());
  return last;
}

/// Returns a time later than that of the previous file, even if that was made in the same
/// second, or by a clock that was ahead.
fs::path new_path(const fs::path& folder, std::int64_t last_seconds) {
  static std::atomic<int> files = 0;
  const auto seconds =
      std::max(static_cast<std::int64_t>(unix_seconds()), last_seconds + 1);
  return folder / fmt::format("{}{:010}.{}.{}.{}", kPrefix, seconds, host_in_file_name(),
                              ::getpid(), files++);
}

messages::Event event_of(std::size_t step) {
  messages::Event event;
  event.set_wall_time(unix_seconds());
  event.set_step(static_cast<std::int64_t>(step));
  return event;
}

messages::Event summary_of(std::size_t step, std::string_view tag,
                           messages::Summary::Value value) {
  messages::Event event = event_of(step);
  value.set_tag(std::string(tag));
  *event.mutable_summary()->add_value() = std::move(value);
  return event;
}

}  // namespace

EventWriter::EventWriter(const fs::path& folder)
    : EventWriter(folder, last_seconds_in(folder)) {}

EventWriter::EventWriter(const fs::path& folder, std::int64_t last_seconds)
    : first_(last_seconds == kNone), file_(new_path(folder, last_seconds)) {
  messages::Event event = event_of(0);
  event.set_file_version("brain.Event:2");
  file_.append(event.SerializeAsString());
}

void EventWriter::start_again(std::size_t first_step) {
  messages::Event event = event_of(first_step);
  event.mutable_session_log()->set_status(messages::SessionLog::START);
  file_.append(event.SerializeAsString());
}

void EventWriter::scalar(std::string_view tag, std::size_t step, double value) {
  messages::Summary::Value message;
  message.set_simple_value(static_cast<float>(value));
  file_.append(summary_of(step, tag, std::move(message)).SerializeAsString());
}

void EventWriter::histogram(std::string_view tag, std::size_t step,
                            std::span<const float> numbers) {
  const Histogram histogram = make_histogram(numbers);
  if (histogram.count == 0) return;
  messages::Summary::Value message;
  *message.mutable_histo() = messages::histogram(histogram);
  file_.append(summary_of(step, tag, std::move(message)).SerializeAsString());
}

void EventWriter::text(std::string_view tag, std::string_view markdown) {
  // TensorBoard's own writers end the tag this way.
  const std::string full_tag = std::string(tag) + "/text_summary";
  file_.append(summary_of(0, full_tag, messages::text(markdown)).SerializeAsString());
}

void EventWriter::graph(std::span<const GraphNode> nodes) {
  messages::Event event = event_of(0);
  event.set_graph_def(messages::graph(nodes).SerializeAsString());
  file_.append(event.SerializeAsString());
}

void EventWriter::start_session(const Hparams& hparams,
                                std::span<const std::string> metrics) {
  const auto append = [this](std::string_view tag,
                             const messages::HParamsPluginData& data) {
    file_.append(summary_of(0, tag, messages::hparams(data)).SerializeAsString());
  };
  append("_hparams_/experiment", messages::experiment(hparams, metrics, unix_seconds()));
  append("_hparams_/session_start_info",
         messages::session_start(hparams, unix_seconds()));
}

void EventWriter::end_session(bool success) {
  const messages::HParamsPluginData data = messages::session_end(success, unix_seconds());
  file_.append(summary_of(0, "_hparams_/session_end_info", messages::hparams(data))
                   .SerializeAsString());
}

}  // namespace convoy
