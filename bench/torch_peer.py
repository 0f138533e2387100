#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of the step benchmark: one request a line in, one answer a line out.

  {"model": "lenet5", "image": 0, "batch_size": 64, "threads": 2, "channels_last": false, "seconds": 2}

A step is what a user of PyTorch writes: zero_grad, forward, loss, backward, SGD with
momentum, on a batch that is already in memory.
"""

import json
import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools"))
from torch_models import INPUTS, MODELS  # noqa: E402

WARM_UP_STEPS = 5
WARM_UP_SECONDS = 3  # is enough, even with fewer steps
LEAST_STEPS = 3


def prepare(model_name, image, batch_size, channels_last):
    torch.manual_seed(0)
    model = MODELS[model_name]().train()
    channels, height, width = INPUTS[model_name]
    images = torch.rand(batch_size, channels, image or height, image or width) * 2 - 1
    if channels_last:
        model = model.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)
    return model, images, torch.arange(batch_size) % 10


def measure(model, image, batch_size, threads, channels_last, seconds):
    torch.set_num_threads(threads)
    network, images, labels = prepare(model, image, batch_size, channels_last)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    loss_function = torch.nn.CrossEntropyLoss()
    times = []
    begin = time.perf_counter()
    step, warm = 0, False
    while time.perf_counter() - begin < seconds or len(times) < LEAST_STEPS:
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = loss_function(network(images), labels)
        loss.backward()
        optimizer.step()
        if warm:
            times.append((time.perf_counter() - start) * 1e3)
        step += 1
        warm = step >= WARM_UP_STEPS or time.perf_counter() - begin > WARM_UP_SECONDS
    times.sort()
    return {"p50": times[len(times) // 2], "min": times[0], "steps": len(times)}


if __name__ == "__main__":
    print(json.dumps({"torch": torch.__version__}), flush=True)
    for line in sys.stdin:
        print(json.dumps(measure(**json.loads(line))), flush=True)
