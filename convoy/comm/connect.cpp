// SPDX-License-Identifier: Apache-2.0
//
// Finds out on which machine each rank is, and chooses the transport. All ranks come to
// the same result, because each decides from what all ranks have written to the store.

#include "convoy/comm/connect.h"

#include <fmt/format.h>
#include <gloo/config.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "convoy/base/error.h"
#include "convoy/comm/alone_comm.h"
#include "convoy/comm/gloo_comm.h"
#include "convoy/comm/shared_comm.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

/// A value that each rank, or one of them, writes under a key of this Comm.
class Notes {
 public:
  Notes(const CommOptions& options, KeyValueStore& store)
      : options_(options), store_(store) {}

  void set(const std::string& topic, const std::string& text) {
    store_.set(key(topic, options_.rank), std::as_bytes(std::span(text)));
  }

  std::string get(const std::string& topic, int rank) {
    try {
      const std::vector<std::byte> bytes = store_.get(key(topic, rank), options_.timeout);
      return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    } catch (const PeerError& error) {
      throw PeerError(rank, fmt::format("did not connect ({})", error.what()));
    }
  }

  std::vector<std::string> get_from_all(const std::string& topic) {
    std::vector<std::string> texts;
    for (int rank = 0; rank < options_.ranks; ++rank) {
      texts.push_back(get(topic, rank));
    }
    return texts;
  }

 private:
  std::string key(const std::string& topic, int rank) const {
    return fmt::format("{}/{}/{}", options_.name, topic, rank);
  }

  const CommOptions& options_;
  KeyValueStore& store_;
};

MemoryPlace parse_place(const std::string& text) {
  MemoryPlace place;
  const bool whole =
      std::sscanf(text.c_str(), "%d %d", &place.process, &place.descriptor) == 2;
  if (whole) return place;
  throw InputError(InputKind::storage, {.where = "shared memory of rank 0",
                                        .found = text,
                                        .expected = "where it is",
                                        .hint = ""});
}

std::unique_ptr<SharedSegment> make_segment(const CommOptions& options, Notes& notes) {
  try {
    auto segment = std::make_unique<SharedSegment>(0, options.ranks, options.timeout);
    const MemoryPlace place = segment->place();
    notes.set("segment", fmt::format("{} {}", place.process, place.descriptor));
    return segment;
  } catch (const InputError& error) {
    notes.set("segment", error.what());
    throw;
  }
}

std::unique_ptr<SharedSegment> open_segment(const CommOptions& options, Notes& notes) {
  const MemoryPlace place = parse_place(notes.get("segment", 0));
  return std::make_unique<SharedSegment>(options.rank, options.ranks, options.timeout,
                                         place);
}

std::vector<int> processes_of_all(Notes& notes) {
  std::vector<int> processes;
  for (const std::string& text : notes.get_from_all("process")) {
    processes.push_back(std::atoi(text.c_str()));
  }
  return processes;
}

constexpr const char* kFine = "fine";

/// Returns null on all ranks if one of them cannot share memory; `why` says which one and
/// why.
std::unique_ptr<SharedSegment> share(const CommOptions& options, Notes& notes,
                                     std::string& why) {
  std::unique_ptr<SharedSegment> segment;
  std::string outcome = kFine;
  notes.set("process", std::to_string(::getpid()));
  try {
    segment =
        options.rank == 0 ? make_segment(options, notes) : open_segment(options, notes);
    segment->watch(processes_of_all(notes));
  } catch (const InputError& error) {
    outcome = error.what();
  }
  notes.set("shared", outcome);
  const std::vector<std::string> outcomes = notes.get_from_all("shared");
  const auto bad = std::ranges::find_if(outcomes, [](auto& o) { return o != kFine; });
  if (bad == outcomes.end()) return segment;
  why = fmt::format("rank {}: {}", bad - outcomes.begin(), *bad);
  return nullptr;
}

/// As share(), and also returns null if there are too many ranks or several machines.
std::unique_ptr<SharedSegment> try_to_share(const CommOptions& options,
                                            KeyValueStore& store, std::string& why) {
  if (options.ranks > SharedSegment::kMostRanks) {
    why = fmt::format("{} ranks", options.ranks);
    return nullptr;
  }
  Notes notes(options, store);
  notes.set("machine", machine_identity());
  const std::vector<std::string> machines = notes.get_from_all("machine");
  const auto apart = std::ranges::find_if(
      machines, [&](const std::string& each) { return each != machines[0]; });
  if (apart == machines.end()) return share(options, notes, why);
  why =
      fmt::format("rank {} is on another machine than rank 0", apart - machines.begin());
  return nullptr;
}

}  // namespace

std::unique_ptr<Comm> connect(const CommOptions& options, KeyValueStore& store) {
  if (options.ranks == 1) return std::make_unique<AloneComm>();
  std::unique_ptr<SharedSegment> segment;
  if (options.transport != Transport::tcp) {
    std::string why;
    segment = try_to_share(options, store, why);
    if (!segment && options.transport == Transport::shared) {
      throw InputError(InputKind::settings, {.where = "transport",
                                             .found = "shared, and " + why,
                                             .expected = "ranks that can share memory",
                                             .hint = "tcp works between all machines"});
    }
  }
  if (segment) return std::make_unique<SharedComm>(std::move(segment));
  return std::make_unique<GlooComm>(options, store);
}

std::string transport_library() {
  return fmt::format("Gloo {}.{}.{}", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR,
                     GLOO_VERSION_PATCH);
}

}  // namespace convoy
