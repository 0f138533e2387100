#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of the step benchmark: one request per line in, one answer per line out.

  {"model": "lenet5", "image": 0, "batch_size": 64, "threads": 2, "form": "eager", "seconds": 2}

Forms are eager, channels_last and, with PyTorch 2, compile and compile_channels_last. A
form that fails is answered by {"error": "..."}. With "precision": "bf16" the forward pass and the
loss are computed under torch.autocast, as PyTorch's guide has it. With "warms_up": false the first
step counts, which is enough for steps of many seconds.

A step is what a user of PyTorch writes: zero_grad, forward, loss, backward, SGD with
momentum, on a batch that is already in memory. SGD is fused where this version can.
"""

import json
import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools"))
from torch_models import INPUTS, MODELS, make_model  # noqa: E402

WARM_UP_STEPS = 5
WARM_UP_SECONDS = 3  # is enough, even with fewer steps
COMPILE_STEPS = 3  # before all that: the first ones compile
LEAST_STEPS = 3
FORMS = ["eager", "channels_last"]
if hasattr(torch, "compile"):
    FORMS += ["compile", "compile_channels_last"]


def allow_many_graphs():
    """All models of this process share a few functions, and each needs graphs of its own:
    beyond a limit meant for a single model, PyTorch would stop to compile."""
    import torch._dynamo
    for name in ("recompile_limit", "accumulated_recompile_limit", "cache_size_limit",
                 "accumulated_cache_size_limit"):
        if hasattr(torch._dynamo.config, name):
            setattr(torch._dynamo.config, name, 10_000)


def make_optimizer(parameters):
    parameters = list(parameters)
    try:
        return torch.optim.SGD(parameters, lr=0.01, momentum=0.9, fused=True)
    except (TypeError, RuntimeError):
        return torch.optim.SGD(parameters, lr=0.01, momentum=0.9)


def under_autocast(loss):
    def in_bf16(images, labels):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return loss(images, labels)
    return in_bf16


class Training:
    """A model with its optimizer and one batch."""

    def __init__(self, model_name, image, batch_size, precision, form):
        torch.manual_seed(0)
        network = make_model(model_name, image).train()
        channels, height, width = INPUTS[model_name]
        self.images = torch.rand(batch_size, channels, image or height, image or width) * 2 - 1
        self.labels = torch.arange(batch_size) % 10
        if form.endswith("channels_last"):
            network = network.to(memory_format=torch.channels_last)
            self.images = self.images.contiguous(memory_format=torch.channels_last)
        self.optimizer = make_optimizer(network.parameters())
        loss_function = torch.nn.CrossEntropyLoss()
        self.loss = lambda images, labels: loss_function(network(images), labels)
        if precision == "bf16":
            self.loss = under_autocast(self.loss)
        if form.startswith("compile"):
            self.compile()

    def compile(self):
        allow_many_graphs()
        # What cannot be compiled as a whole is an error, not a slow success.
        self.loss = torch.compile(self.loss, dynamic=False, fullgraph=True)
        for _ in range(COMPILE_STEPS):
            self.step()

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.images, self.labels)
        loss.backward()
        self.optimizer.step()


compiled = {}  # by what prepare() is given: compiled once, measured in every round


def prepare(*case):
    if not case[-1].startswith("compile"):
        return Training(*case)
    if case not in compiled:
        compiled[case] = Training(*case)
    return compiled[case]


def measure(model, image, batch_size, threads, form, seconds, precision="fp32",
            warms_up=True):
    torch.set_num_threads(threads)
    training = prepare(model, image, batch_size, precision, form)
    times = []
    begin = time.perf_counter()
    step, warm = 0, not warms_up
    least = LEAST_STEPS if warms_up else 1
    while time.perf_counter() - begin < seconds or len(times) < least:
        start = time.perf_counter()
        training.step()
        if warm:
            times.append((time.perf_counter() - start) * 1e3)
        step += 1
        warm = warm or step >= WARM_UP_STEPS or time.perf_counter() - begin > WARM_UP_SECONDS
    times.sort()
    return {"p50": times[len(times) // 2], "min": times[0], "steps": len(times)}


def answer(request):
    try:
        return measure(**request)
    except Exception as error:  # whatever a compiler throws
        lines = str(error).strip().splitlines() or [""]
        return {"error": f"{type(error).__name__}: {lines[0]}"}


if __name__ == "__main__":
    print(json.dumps({"torch": torch.__version__, "forms": FORMS}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
