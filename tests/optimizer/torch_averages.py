#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""torch.optim.swa_utils on made-up numbers, for torch_averages_test.cpp.

  torch_averages.py < request.json > result.json
"""

import json
import pathlib
import sys

import torch
from torch import nn
from torch.optim import swa_utils

sys.path.append(str(pathlib.Path(__file__).parent.parent.parent / "tools"))
from make_fixtures import fill, uniform  # noqa: E402


def average(request, decay):
    """Of a parameter that has other values each time."""
    model = nn.ParameterList([torch.zeros(request["size"])])

    def exponential(old, new, _):
        return decay * old + (1 - decay) * new

    averaged = swa_utils.AveragedModel(model, avg_fn=exponential if decay else None)
    for count in range(request["count"]):
        model[0].data = torch.from_numpy(uniform(request["size"], count + 1))
        averaged.update_parameters(model)
    return averaged.module[0].tolist()


def statistics(request):
    """update_bn() of a network with two batch norms."""
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(),
        nn.Conv2d(4, 5, 3, padding=1), nn.BatchNorm2d(5), nn.ReLU(),
        nn.Flatten(), nn.Linear(5 * 8 * 8, 10))
    fill(model)
    shape = (request["batch"], 3, 8, 8)
    images = 3 * 8 * 8 * request["batch"]
    swa_utils.update_bn([torch.from_numpy(uniform(images, 1000 + i)).reshape(shape)
                         for i in range(request["batches"])], model)
    return [number for module in model if isinstance(module, nn.BatchNorm2d)
            for buffer in (module.running_mean, module.running_var)
            for number in buffer.tolist()]


if __name__ == "__main__":
    what = json.load(sys.stdin)
    json.dump({"equal": average(what, 0), "exponential": average(what, what["decay"]),
               "statistics": statistics(what)}, sys.stdout)
