#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of the strategies' benchmark: one rank of it.

  torch_ddp_peer.py STRATEGY MODEL BATCH RANK RANKS STORE SECONDS

STRATEGY is single, gather_scatter, all_reduce, ddp, ddp_fp16, ddp_bf16 or fsdp; BATCH is that of all ranks together;
STORE is an address that the ranks meet at: file://PATH, tcp://HOST:PORT. Rank 0 prints {"p50": ms, "steps": n}.

A step is what a user of PyTorch writes: zero_grad, forward, loss, backward, the exchange by
hand, by DistributedDataParallel or by fully_shard, SGD with momentum, on a batch that is already in memory;
over Gloo, with one thread a rank.
"""

import json
import pathlib
import sys
import time

import torch
import torch.distributed as dist

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools"))
from torch_models import INPUTS, MODELS  # noqa: E402

WARM_UP_STEPS = 3
LEAST_STEPS = 5


def gather_scatter(network, rank, ranks):
    """Rank 0 gathers each gradient, takes the mean and scatters it."""
    for parameter in network.parameters():
        gradient = parameter.grad
        if rank == 0:
            all_of_them = [torch.empty_like(gradient) for _ in range(ranks)]
            dist.gather(gradient, all_of_them)
            mean = torch.stack(all_of_them).mean(dim=0)
            dist.scatter(gradient, [mean] * ranks)
        else:
            dist.gather(gradient)
            dist.scatter(gradient)


def all_reduce(network, _, ranks):
    """One all-reduce a gradient."""
    for parameter in network.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= ranks


def nothing(network, rank, ranks):
    """DistributedDataParallel has done it during backward."""


def compressed(network, kind):
    """Its gradients are exchanged in that type: fp16 or bf16."""
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
    network.register_comm_hook(None, getattr(default_hooks, f"{kind}_compress_hook"))


def divided(network):
    """As PyTorch's guide has it: each block of a transformer is a unit, or each child that has
    parameters, and what is left is one more."""
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.device_mesh import init_device_mesh
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    blocks = getattr(network, "blocks", None)
    for unit in blocks if blocks is not None else network.children():
        if any(True for _ in unit.parameters()):
            fully_shard(unit, mesh=mesh)
    return fully_shard(network, mesh=mesh)


EXCHANGES = {"gather_scatter": gather_scatter, "all_reduce": all_reduce}  # others: nothing


def is_time_up(begin, seconds, steps):
    """Rank 0 decides, so that all make equally many steps."""
    over = torch.tensor([float(time.perf_counter() - begin > seconds and steps >= LEAST_STEPS)])
    if dist.is_initialized():
        dist.broadcast(over, 0)
    return bool(over)


def measure(strategy, model_name, batch, rank, ranks, seconds):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = MODELS[model_name]().train()
    if strategy.startswith("ddp"):
        network = torch.nn.parallel.DistributedDataParallel(network)
    if strategy.startswith("ddp_"):
        compressed(network, strategy.removeprefix("ddp_"))
    if strategy == "fsdp":
        network = divided(network)
    images = torch.rand(batch // ranks, *INPUTS[model_name]) * 2 - 1
    labels = torch.arange(batch // ranks) % 10
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    loss_function = torch.nn.CrossEntropyLoss()
    times, step, begin = [], 0, time.perf_counter()
    while not is_time_up(begin, seconds, len(times)):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss_function(network(images), labels).backward()
        EXCHANGES.get(strategy, nothing)(network, rank, ranks)
        optimizer.step()
        if step >= WARM_UP_STEPS:
            times.append((time.perf_counter() - start) * 1e3)
        step += 1
    times.sort()
    return {"p50": times[len(times) // 2], "steps": len(times), "torch": torch.__version__}


def main():
    strategy, model_name, batch, rank, ranks, store, seconds = sys.argv[1:]
    if int(ranks) > 1:
        dist.init_process_group("gloo", init_method=store, rank=int(rank),
                                world_size=int(ranks))
    result = measure(strategy, model_name, int(batch), int(rank), int(ranks), float(seconds))
    if int(rank) == 0:
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
