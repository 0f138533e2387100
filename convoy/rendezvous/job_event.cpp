// SPDX-License-Identifier: Apache-2.0

#include "convoy/rendezvous/job_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace convoy {
namespace {

constexpr const char* kSignalKey = "job/signal";
constexpr const char* kRunFolderKey = "job/run_folder";
constexpr const char* kServersDoneKey = "job/servers_done";
constexpr const char* kGivenUpPrefix = "job/given_up/";
constexpr const char* kSilentPrefix = "job/silent/";
constexpr const char* kNodeDonePrefix = "job/done/";
constexpr const char* kReportedPrefix = "job/reported/";

/// Splits an entry into its key after the prefix, and its value.
struct Content {
  std::string name, text;

  /// Returns 2 for "rank 2" and for "node 2".
  int number() const {
    const std::size_t space = name.find(' ');
    return space == std::string::npos ? 0 : std::atoi(name.c_str() + space);
  }
  PeerKind kind() const {
    return name.starts_with("node ") ? PeerKind::launcher : PeerKind::rank;
  }
  /// Parses a value: a number, or a number, a space and a text.
  int first() const { return std::atoi(text.c_str()); }
  std::string rest() const {
    const std::size_t space = text.find(' ');
    return space == std::string::npos ? "" : text.substr(space + 1);
  }
};

struct Decoder {
  std::string_view prefix;
  JobEvent (*decode)(const Content& content);
};

constexpr std::array kDecoders = {
    Decoder{kCompleteKey, [](const Content&) -> JobEvent { return JobComplete{}; }},
    Decoder{kFailedKey,
            [](const Content& content) -> JobEvent {
              return JobFailed{{exit_code_of(content.first()), content.rest()}};
            }},
    Decoder{
        kSignalKey,
        [](const Content& content) -> JobEvent { return StopSignal{content.first()}; }},
    Decoder{kRunFolderKey,
            [](const Content& content) -> JobEvent { return RunStarted{content.text}; }},
    Decoder{kServersDoneKey, [](const Content&) -> JobEvent { return ServersDone{}; }},
    Decoder{kGivenUpPrefix,
            [](const Content& content) -> JobEvent {
              return WorkerGivenUp{content.number(), content.text};
            }},
    Decoder{kSilentPrefix,
            [](const Content& content) -> JobEvent {
              return RankSilent{content.number(), content.first()};
            }},
    Decoder{kNodeDonePrefix,
            [](const Content& content) -> JobEvent {
              return NodeDone{content.number(), exit_code_of(content.first())};
            }},
    Decoder{kLostPrefix,
            [](const Content& content) -> JobEvent {
              return SessionLost{content.kind(), content.number(), content.first() == 1,
                                 content.rest()};
            }},
    Decoder{kReportedPrefix, [](const Content& content) -> JobEvent {
              return PeerReported{content.number(), content.first(), content.rest()};
            }}};

StoreEntry entry(const char* prefix, PeerKind kind, int number, std::string value) {
  return {prefix + name_of(kind, number), std::move(value)};
}

}  // namespace

StoreEntry entry_of(const JobComplete&) { return {kCompleteKey, ""}; }

StoreEntry entry_of(const JobFailed& event) {
  const JobOutcome& outcome = event.outcome;
  return {kFailedKey, fmt::format("{} {}", static_cast<int>(outcome.code), outcome.text)};
}

StoreEntry entry_of(const StopSignal& event) {
  return {kSignalKey, std::to_string(event.signal)};
}

StoreEntry entry_of(const RunStarted& event) { return {kRunFolderKey, event.folder}; }

StoreEntry entry_of(const ServersDone&) { return {kServersDoneKey, ""}; }

StoreEntry entry_of(const WorkerGivenUp& event) {
  return entry(kGivenUpPrefix, PeerKind::rank, event.rank, event.end);
}

StoreEntry entry_of(const RankSilent& event) {
  return entry(kSilentPrefix, PeerKind::rank, event.rank, std::to_string(event.pid));
}

StoreEntry entry_of(const NodeDone& event) {
  return entry(kNodeDonePrefix, PeerKind::launcher, event.node,
               std::to_string(static_cast<int>(event.code)));
}

StoreEntry entry_of(const SessionLost& event) {
  return entry(kLostPrefix, event.kind, event.number,
               fmt::format("{} {}", event.silent ? 1 : 0, event.text));
}

StoreEntry entry_of(const PeerReported& event) {
  return entry(kReportedPrefix, PeerKind::rank, event.from,
               fmt::format("{} {}", event.rank, event.error));
}

std::optional<JobEvent> decode_job_event(const std::string& key,
                                         std::span<const std::byte> value) {
  const auto* const found = std::ranges::find_if(
      kDecoders, [&](const Decoder& one) { return key.starts_with(one.prefix); });
  if (found == kDecoders.end()) return std::nullopt;
  return found->decode({key.substr(found->prefix.size()), text_of(value)});
}

}  // namespace convoy
