#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Learning rates of torch.optim.lr_scheduler, for torch_schedule_test.cpp.

  torch_schedules.py < runs.json > results.json

A rate is read before each optimizer.step(). Schedulers that count epochs step at their ends.
"""

import json
import sys

import torch
from torch.optim import lr_scheduler


def optimizer_of(run):
    value = torch.nn.Parameter(torch.zeros(1))
    value.grad = torch.zeros(1)
    return torch.optim.SGD([value], lr=run["rate"])


def rate_of(optimizer):
    return optimizer.param_groups[0]["lr"]


def rates(run):
    optimizer = optimizer_of(run)
    scheduler = getattr(lr_scheduler, run["name"])(optimizer, **run["options"])
    found = []
    for step in range(run["steps"]):
        found.append(rate_of(optimizer))
        optimizer.step()
        if (step + 1) % run["steps_of_scheduler"] == 0:
            scheduler.step()
    return found


def rates_on_plateaus(run):
    """The rate after each evaluation."""
    optimizer = optimizer_of(run)
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, **run["options"])
    found = []
    for metric in run["metrics"]:
        scheduler.step(metric)
        found.append(rate_of(optimizer))
    return found


if __name__ == "__main__":
    json.dump([rates_on_plateaus(run) if "metrics" in run else rates(run)
               for run in json.load(sys.stdin)], sys.stdout)
