// SPDX-License-Identifier: Apache-2.0

#include "convoy/rendezvous/store_roster.h"

#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "convoy/base/sha256.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

constexpr std::size_t kMostNamed = 16;  // of the missing peers

/// Returns the names of the numbers below `count` that are not taken.
template <class Name>
std::string list_missing(int count, const std::map<int, Hello>& present,
                         const Name& name) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    if (!present.contains(i)) names.push_back(name(i));
  }
  if (names.size() > kMostNamed) {
    const std::size_t more = names.size() - kMostNamed;
    names.resize(kMostNamed);
    names.push_back(fmt::format("{} more", more));
  }
  return join(names);
}

}  // namespace

StoreRoster::StoreRoster(const RosterOptions& options)
    : options_(options), settings_hash_(settings_hash(options.settings)) {}

std::optional<StoreRoster::Refused> StoreRoster::admit(const Hello& hello) {
  const std::string who = name_of(hello.kind, hello.number);
  const auto refuse = [](const std::string& reason) {
    return Refused{Refusal::place, reason, reason};
  };
  if (hello.ranks != options_.ranks) {
    return refuse(fmt::format("{} counts {} ranks, this job has {}", who, hello.ranks,
                              options_.ranks));
  }
  const int places = hello.kind == PeerKind::rank ? options_.ranks : options_.nodes;
  if (hello.number < 0 || hello.number >= places) {
    return refuse(fmt::format("there is no {}, only {}", who, places));
  }
  if (!options_.settings.empty() && hello.settings_hash != settings_hash_) {
    return Refused{Refusal::settings,
                   fmt::format("{} has other settings ({:.12}, this job has {:.12})", who,
                               hello.settings_hash, settings_hash_),
                   options_.settings};
  }
  auto& holders = hello.kind == PeerKind::rank ? ranks_ : nodes_;
  const auto [holder, is_new] = holders.emplace(hello.number, hello);
  if (is_new) return std::nullopt;
  return refuse(fmt::format("already taken by {}", describe(holder->second)));
}

void StoreRoster::release(const Hello& hello) {
  if (is_elastic(hello)) ranks_.erase(hello.number);
}

bool StoreRoster::is_elastic(const Hello& hello) const {
  return hello.kind == PeerKind::rank && hello.number >= awaited();
}

bool StoreRoster::is_complete() const {
  return joined() == awaited() && static_cast<int>(nodes_.size()) == options_.nodes;
}

/// Returns how many of the required ranks have joined.
int StoreRoster::joined() const {
  return static_cast<int>(std::distance(ranks_.begin(), ranks_.lower_bound(awaited())));
}

std::string StoreRoster::missing() const {
  const bool nodes_first = static_cast<int>(nodes_.size()) < options_.nodes;
  return nodes_first ? missing_nodes() : missing_ranks();
}

std::string StoreRoster::missing_nodes() const {
  return fmt::format("{} of {} nodes, missing: {}", nodes_.size(), options_.nodes,
                     list_missing(options_.nodes, nodes_, [](int node) {
                       return name_of(PeerKind::launcher, node);
                     }));
}

std::string StoreRoster::missing_ranks() const {
  return fmt::format("{} of {} ranks, missing: {}", joined(), awaited(),
                     list_missing(awaited(), ranks_, [&](int rank) {
                       const std::string host = host_of_rank(rank);
                       const std::string name = name_of(PeerKind::rank, rank);
                       return host.empty() ? name : fmt::format("{} (on {})", name, host);
                     }));
}

/// Returns the host of its node's launcher, if there is one. Nodes have equally many
/// ranks, except for the required ones if others are elastic.
std::string StoreRoster::host_of_rank(int rank) const {
  if (options_.nodes == 0) return "";
  const int number = options_.elastic_from ? 0 : rank / (options_.ranks / options_.nodes);
  const auto node = nodes_.find(number);
  return node == nodes_.end() ? "" : node->second.host;
}

std::string describe(const Hello& hello) {
  return fmt::format("{} on {} (pid {})", name_of(hello.kind, hello.number), hello.host,
                     hello.pid);
}

std::string settings_hash(const std::string& settings) {
  return sha256_hex(std::as_bytes(std::span(settings)));
}

}  // namespace convoy
