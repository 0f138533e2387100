#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's all-reduce over Gloo between processes of this machine, as one JSON object.

  bench/torch_collective.py [--ranks 2] [--bytes 4096,36900000] [--seconds 0.5]

The object is that of `convoy bench collective --json`, without Gloo's columns.
"""

import argparse
import json
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as processes

WARM_UPS = 3
LEAST_SAMPLES = 9


def timed(numbers):
    dist.barrier()
    start = time.perf_counter()
    dist.all_reduce(numbers)
    return time.perf_counter() - start


def go_on(wanted):
    """The first rank decides for all."""
    word = torch.tensor([int(wanted)])
    dist.broadcast(word, 0)
    return bool(word.item())


def measure(size, seconds, ranks):
    numbers = torch.ones(size // 4)
    timed(numbers)
    assert bool((numbers == ranks).all())
    numbers.zero_()
    for _ in range(WARM_UPS):
        timed(numbers)
    samples = []
    start = time.perf_counter()
    while True:
        samples.append(timed(numbers))
        if not go_on(len(samples) < LEAST_SAMPLES or time.perf_counter() - start < seconds):
            break
    median = statistics.median(samples)
    return {"bytes": size, "p50_us": median * 1e6, "gb_per_s": size / median * 1e-9,
            "samples": len(samples)}


def run(rank, folder, options):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank,
                            world_size=options.ranks)
    rows = [measure(size, options.seconds, options.ranks) for size in options.bytes]
    dist.barrier()
    if rank == 0:
        print(json.dumps({"operation": "all_reduce", "ranks": options.ranks,
                          "torch": torch.__version__, "rows": rows}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--bytes", default=",".join(str(4096 * 4**i) for i in range(8)),
                        help="sizes to measure (4 KiB to 64 MiB)")
    parser.add_argument("--seconds", type=float, default=0.5)
    options = parser.parse_args()
    options.bytes = [int(size) for size in options.bytes.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        processes.spawn(run, args=(folder, options), nprocs=options.ranks)


if __name__ == "__main__":
    main()
