#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's optimizers make of made-up gradients, for torch_optimizer_test.cpp.

  torch_optimizers.py < runs.json > results.json

A run has a weight and a bias. The gradient of each element pulls it towards zero, with noise
that follows from element and step; so what went wrong in one step shows in all that follow.
"""

import json
import pathlib
import sys

import torch

sys.path.append(str(pathlib.Path(__file__).parent.parent.parent / "tools"))
from make_fixtures import uniform  # noqa: E402

KINDS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


def noise(count, seed):
    return torch.from_numpy(uniform(count, seed))


def parameters(run):
    return [torch.nn.Parameter(noise(run["sizes"][i], 1 + i)) for i in range(2)]


def groups(run, values):
    """The bias has a rate of its own, and no weight decay if the run says so."""
    bias = {"params": [values[1]], "lr": run["options"]["lr"] * run["bias_rate_factor"]}
    if run["decay_only_weights"]:
        bias["weight_decay"] = 0
    return [{"params": [values[0]]}, bias]


def result(run):
    values = parameters(run)
    optimizer = KINDS[run["name"]](groups(run, values), **run["options"])
    schedule = None
    if run["onecycle"]:
        highest = [group["lr"] for group in optimizer.param_groups]
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, max_lr=highest, total_steps=run["steps"])
    norms = []
    for step in range(run["steps"]):
        for i, value in enumerate(values):
            pull = value.detach() * 0.5
            value.grad = pull + noise(value.numel(), 100 + 2 * step + i)
        if run["clip_norm"] > 0:
            norms.append(torch.nn.utils.clip_grad_norm_(values, run["clip_norm"]).item())
        optimizer.step()
        if schedule is not None:
            schedule.step()
    slots = {}
    for value in values:
        for key, numbers in optimizer.state[value].items():
            if torch.is_tensor(numbers) and numbers.dim() > 0:
                slots[key] = slots.get(key, []) + numbers.tolist()
    return {"values": [number for value in values for number in value.tolist()],
            "slots": slots, "norms": norms}


if __name__ == "__main__":
    json.dump([result(run) for run in json.load(sys.stdin)], sys.stdout)
