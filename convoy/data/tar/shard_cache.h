// SPDX-License-Identifier: Apache-2.0
//
// Shards of a dataset, from disk or from servers. Whole shards from servers are kept in a
// folder, as many as its bound allows; of the others, every image is read from its server
// when it is needed. So a dataset that is larger than the bound costs the network what
// does not fit, and never downloads a shard again and again.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convoy/data/tar/shard.h"

namespace convoy {

struct ShardCacheOptions {
  std::filesystem::path folder{};  // of whole shards; empty: none are kept
  std::uint64_t most_bytes = 0;    // of all its files together
};

/// Opens shards by path or address (servers.h), in this order. Those that fit the cache
/// are downloaded first; shards of other datasets make room, the longest unused first.
/// One process at a time does this. Throws InputError of kind `storage` if a shard cannot
/// be read.
std::vector<std::shared_ptr<const Shard>> open_shards(
    const std::vector<std::string>& places, const ShardCacheOptions& options);

}  // namespace convoy
