// SPDX-License-Identifier: Apache-2.0
//
// Every operation, on every transport, with one to five ranks.

#include "convoy/comm/comm.h"

#include <gmock/gmock.h>

#include <atomic>
#include <numeric>
#include <tuple>

#include "tests/comm/microbatch_sums.h"
#include "tests/comm/thread_ranks.h"

namespace convoy {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 3, 1001, 700001};

class EveryComm : public testing::TestWithParam<std::tuple<Transport, int>> {
 protected:
  int ranks() const { return std::get<1>(GetParam()); }
  void run(const RankBody& body) const { run_ranks(ranks(), body, transport()); }

 private:
  Transport transport() const { return std::get<0>(GetParam()); }
};

/// Bytes that tell who made them.
std::vector<std::byte> bytes_from(int rank, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(i * 31 + static_cast<std::size_t>(rank) * 101);
  }
  return bytes;
}

std::vector<std::size_t> uneven_sizes(int ranks, std::size_t count) {
  std::vector<std::size_t> sizes;
  for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) {
    sizes.push_back(r % 2 == 0 ? count + r : count / 2);
  }
  return sizes;
}

std::vector<std::byte> joined(std::span<const std::size_t> sizes) {
  std::vector<std::byte> all;
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    const auto bytes = bytes_from(static_cast<int>(r), sizes[r]);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

TEST_P(EveryComm, KnowsItsPlace) {
  std::atomic<int> sum{0};
  run([&](Comm& comm) {
    EXPECT_EQ(comm.ranks(), ranks());
    EXPECT_EQ(comm.is_first(), comm.rank() == 0);
    sum += comm.rank();
  });
  EXPECT_EQ(sum, ranks() * (ranks() - 1) / 2);
}

TEST_P(EveryComm, BroadcastsFromEachRoot) {
  run([&](Comm& comm) {
    for (const std::size_t size : kSizes) {
      for (int root = 0; root < comm.ranks(); ++root) {
        std::vector<std::byte> bytes = bytes_from(comm.rank(), size);
        comm.broadcast(bytes, root);
        EXPECT_EQ(bytes, bytes_from(root, size)) << size;
      }
    }
  });
}

TEST_P(EveryComm, GathersUnevenSizes) {
  run([&](Comm& comm) {
    for (const std::size_t size : kSizes) {
      const auto sizes = uneven_sizes(comm.ranks(), size);
      for (int root = 0; root < comm.ranks(); ++root) {
        const auto own =
            bytes_from(comm.rank(), sizes[static_cast<std::size_t>(comm.rank())]);
        std::vector<std::byte> all;
        if (comm.rank() == root) all.resize(joined(sizes).size());
        comm.gather(own, all, sizes, root);
        EXPECT_EQ(all, comm.rank() == root ? joined(sizes) : all) << size;
      }
    }
  });
}

TEST_P(EveryComm, ScattersUnevenSizes) {
  run([&](Comm& comm) {
    for (const std::size_t size : kSizes) {
      const auto sizes = uneven_sizes(comm.ranks(), size);
      for (int root = 0; root < comm.ranks(); ++root) {
        std::vector<std::byte> own(sizes[static_cast<std::size_t>(comm.rank())]);
        std::vector<std::byte> all;
        if (comm.rank() == root) all = joined(sizes);
        comm.scatter(all, own, sizes, root);
        EXPECT_EQ(own, bytes_from(comm.rank(), own.size())) << size;
      }
    }
  });
}

TEST_P(EveryComm, GathersEverywhere) {
  run([&](Comm& comm) {
    for (const std::size_t size : kSizes) {
      const std::vector<std::size_t> sizes(static_cast<std::size_t>(comm.ranks()), size);
      std::vector<std::byte> all(size * sizes.size());
      comm.all_gather(bytes_from(comm.rank(), size), all);
      EXPECT_EQ(all, joined(sizes)) << size;
    }
  });
}

TEST_P(EveryComm, GathersEverywhereInPlace) {
  run([&](Comm& comm) {
    const std::size_t size = 1001;
    const std::vector<std::size_t> sizes(static_cast<std::size_t>(comm.ranks()), size);
    std::vector<std::byte> all(size * sizes.size());
    const auto own =
        std::span(all).subspan(size * static_cast<std::size_t>(comm.rank()), size);
    std::ranges::copy(bytes_from(comm.rank(), size), own.begin());
    comm.all_gather(own, all);
    EXPECT_EQ(all, joined(sizes));
  });
}

TEST_P(EveryComm, GathersParts) {
  run([&](Comm& comm) {
    for (const std::size_t size : kSizes) {
      const std::vector<float> expected = microbatch_numbers(3, size);
      const Range own = even_part(size, static_cast<std::size_t>(comm.ranks()),
                                  static_cast<std::size_t>(comm.rank()));
      std::vector<float> whole(size, -1);
      std::copy_n(expected.begin() + static_cast<std::ptrdiff_t>(own.begin), own.size(),
                  whole.begin() + static_cast<std::ptrdiff_t>(own.begin));
      comm.all_gather_parts(whole);
      EXPECT_TRUE(same_bits(whole, expected)) << size;
    }
  });
}

/// `onto`: which of its partials a rank has the sum written to; beyond them: none.
std::vector<float> reduced(Comm& comm, std::size_t microbatches, std::size_t size,
                           std::size_t onto, bool to_all, Dtype dtype = Dtype::fp32) {
  const ReductionOrder order(microbatches, comm.ranks());
  auto partials = partials_of_rank(order, comm.rank(), size, dtype);
  std::vector<const float*> pointers;
  for (const auto& partial : partials) pointers.push_back(partial.data());
  std::vector<float> apart(size, -1);
  std::vector<float>& whole = onto < partials.size() ? partials[onto] : apart;
  if (to_all) {
    comm.all_reduce(order, pointers, whole, dtype);
  } else {
    comm.reduce_scatter(order, pointers, whole, {}, dtype);
  }
  return whole;
}

TEST_P(EveryComm, ReducesToTheBitsOfASingleTree) {
  for (const std::size_t more : {0, 1, 4}) {
    const std::size_t microbatches = static_cast<std::size_t>(ranks()) + more;
    run([&](Comm& comm) {
      for (const std::size_t size : kSizes) {
        EXPECT_TRUE(same_bits(reduced(comm, microbatches, size, 99, true),
                              tree_sum({0, microbatches}, size)))
            << microbatches << " micro-batches, size " << size;
      }
    });
  }
}

TEST_P(EveryComm, ReducesIn16BitsToTheBitsOfASingleTree) {
  const std::size_t microbatches = static_cast<std::size_t>(ranks()) + 4;
  run([&](Comm& comm) {
    for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
      for (const std::size_t size : kSizes) {
        const std::vector<float> expected = tree_sum({0, microbatches}, size, dtype);
        const std::vector<float> apart =
            reduced(comm, microbatches, size, 99, true, dtype);
        EXPECT_TRUE(same_bits(apart, expected)) << size;
        std::vector<float> onto = reduced(comm, microbatches, size, 0, false, dtype);
        const Range own = even_part(size, static_cast<std::size_t>(comm.ranks()),
                                    static_cast<std::size_t>(comm.rank()));
        for (std::size_t i = own.begin; i < own.end; ++i) {
          ASSERT_EQ(onto[i], expected[i]) << size << ": " << i;
        }
      }
    }
  });
}

TEST_P(EveryComm, ReducesOntoAPartial) {
  const std::size_t microbatches = static_cast<std::size_t>(ranks()) + 2;
  run([&](Comm& comm) {
    for (const std::size_t size : kSizes) {
      for (const std::size_t onto : {0, 1}) {
        EXPECT_TRUE(same_bits(reduced(comm, microbatches, size, onto, true),
                              tree_sum({0, microbatches}, size)))
            << size;
      }
    }
  });
}

TEST_P(EveryComm, ReducesAndScatters) {
  const std::size_t microbatches = static_cast<std::size_t>(ranks()) + 1;
  run([&](Comm& comm) {
    for (const std::size_t size : kSizes) {
      for (const std::size_t onto : {0, 99}) {
        const std::vector<float> expected = tree_sum({0, microbatches}, size);
        const std::vector<float> whole = reduced(comm, microbatches, size, onto, false);
        const Range own = even_part(size, static_cast<std::size_t>(comm.ranks()),
                                    static_cast<std::size_t>(comm.rank()));
        for (std::size_t i = own.begin; i < own.end; ++i) {
          ASSERT_EQ(whole[i], expected[i]) << i << " of " << size;
        }
      }
    }
  });
}

TEST_P(EveryComm, LeavesTheOthersPartsAloneInAReduceScatter) {
  run([&](Comm& comm) {
    const std::size_t size = 1001;
    const std::vector<float> whole =
        reduced(comm, static_cast<std::size_t>(comm.ranks()), size, 99, false);
    const Range own = even_part(size, static_cast<std::size_t>(comm.ranks()),
                                static_cast<std::size_t>(comm.rank()));
    for (std::size_t i = 0; i < size; ++i) {
      if (own.begin <= i && i < own.end) continue;
      ASSERT_EQ(whole[i], -1.0f);
    }
  });
}

TEST_P(EveryComm, LetsNobodyPassABarrierAlone) {
  std::atomic<int> arrived{0};
  run([&](Comm& comm) {
    for (int round = 1; round <= 20; ++round) {
      ++arrived;
      comm.barrier();
      EXPECT_GE(arrived, round * comm.ranks());
      comm.barrier();
    }
  });
}

TEST_P(EveryComm, MixesOperationsOfAllSizes) {
  run([&](Comm& comm) {
    const std::size_t microbatches = static_cast<std::size_t>(comm.ranks());
    for (int round = 0; round < 6; ++round) {
      for (const std::size_t size : {std::size_t{5}, std::size_t{70000}}) {
        EXPECT_TRUE(same_bits(reduced(comm, microbatches, size, 0, true),
                              tree_sum({0, microbatches}, size)));
        std::vector<std::byte> bytes = bytes_from(comm.rank(), size);
        comm.broadcast(bytes, round % comm.ranks());
        EXPECT_EQ(bytes, bytes_from(round % comm.ranks(), size));
      }
      comm.barrier();
    }
  });
}

std::string name_of_case(const testing::TestParamInfo<std::tuple<Transport, int>>& info) {
  const bool tcp = std::get<0>(info.param) == Transport::tcp;
  return (tcp ? "Tcp" : "Shared") + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, EveryComm,
                         testing::Combine(testing::Values(Transport::tcp,
                                                          Transport::shared),
                                          testing::Range(1, 6)),
                         name_of_case);

}  // namespace
}  // namespace convoy
