#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what PyTorch computes for each model, for tests/network/torch_fixture_test.cpp.

  tools/make_fixtures.py [model ...]

Weights and images follow from a formula that the test repeats, so a fixture holds only
results: losses, logits, and of every tensor its norm and some elements, after one backward
pass and after three steps of SGD. Dropout is off: its random numbers are our own.
"""

import json
import pathlib
import sys

import numpy as np
import torch

from torch_models import INPUTS, MODELS, make_model

BATCH = 19  # odd, and no multiple of any vector
SAMPLES = 24
FOLDER = pathlib.Path(__file__).parent.parent / "tests" / "network" / "fixtures"
# So that a test is soon done.
SMALLER_INPUTS = {"resnet18": (3, 64, 64), "resnet50": (3, 64, 64),
                  "mobilenet_v2": (3, 64, 64), "vit_ti_16": (3, 64, 64),
                  "vit_s_16": (3, 48, 48), "vit_b_16": (3, 32, 32), "vit_b_32": (3, 64, 64)}
# A deep network with a large rate goes astray from any difference.
DEEP_RATES = {"resnet50": 1e-5, "mobilenet_v2": 1e-5}
SGD = {"lr": 0.05, "momentum": 0.9, "weight_decay": 1e-3, "nesterov": True}


def uniform(count, seed):
    """Numbers in [-1, 1), the same as made_up_number() in the test."""
    x = (np.arange(count, dtype=np.uint64) * 0x9E3779B1 + seed * 0x85EBCA77) & 0xFFFFFFFF
    x = x.astype(np.uint32)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    x ^= x >> np.uint32(16)
    return (x >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)


def fill(model):
    """Weights within PyTorch's default bounds; scales of batch norms between 0.5 and 1.5."""
    scales = {name + ".weight" for name, module in model.named_modules()
              if isinstance(module, (torch.nn.BatchNorm2d, torch.nn.LayerNorm))}
    bound = np.float32(0)
    for number, (name, parameter) in enumerate(model.named_parameters()):
        if parameter.dim() > 1:
            bound = np.float32(1) / np.sqrt(np.float32(parameter[0].numel()))
        values = uniform(parameter.numel(), number + 1)
        values = 1 + values / 2 if name in scales else values * bound
        parameter.data = torch.from_numpy(values).reshape(parameter.shape)


def describe(tensor):
    flat = tensor.detach().double().flatten()
    step = max(1, flat.numel() // SAMPLES)
    return {"norm": flat.norm().item(), "step": step, "elements": flat[::step].tolist()[:SAMPLES]}


def make(name):
    torch.manual_seed(0)
    shape = SMALLER_INPUTS.get(name, INPUTS[name])
    model = make_model(name, shape[1], dropout=False)
    fill(model)
    images = torch.from_numpy(uniform(BATCH * int(np.prod(shape)), 1000)).reshape(BATCH, *shape)
    labels = torch.arange(BATCH) * 7 % 10
    sgd = dict(SGD)
    if any(isinstance(module, torch.nn.BatchNorm2d) for module in model.modules()):
        sgd["lr"] = DEEP_RATES.get(name, 1e-3)
    optimizer = torch.optim.SGD(model.parameters(), **sgd)
    fixture = {"model": name, "input": shape, "batch": BATCH, "sgd": sgd, "losses": []}
    for step in range(3):
        optimizer.zero_grad()
        logits = model(images)
        loss = torch.nn.functional.cross_entropy(logits, labels)
        loss.backward()
        fixture["losses"].append(loss.item())
        if step == 0:
            fixture["logits"] = logits.detach().flatten().tolist()
            fixture["gradients"] = {
                key: describe(value.grad) for key, value in model.named_parameters()}
        optimizer.step()
    fixture["statistics"] = {
        key: describe(value) for key, value in model.named_buffers() if "running" in key}
    fixture["values"] = {key: describe(value) for key, value in model.named_parameters()}
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(fixture, indent=1) + "\n")


if __name__ == "__main__":
    for model_name in sys.argv[1:] or MODELS:
        make(model_name)
