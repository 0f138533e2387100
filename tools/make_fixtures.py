#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what PyTorch computes for each model, for tests/network/torch_fixture_test.cpp.

  tools/make_fixtures.py [model ...]

Weights and images follow from a formula that the test repeats, so a fixture holds only
results of three steps of SGD: PyTorch's loss and logits of the first step in fp32; in fp64
all losses and logits, and of every tensor its norm and some elements, the gradients after the
first step, values and statistics after the last; and how far PyTorch in fp32 is from its own
results in fp64. Dropout is off: its random numbers are our own.
"""

import json
import pathlib
import sys

import numpy as np
import torch

from torch_models import INPUTS, MODELS, make_model

BATCH = 19  # odd, and no multiple of any vector
SAMPLES = 12
FOLDER = pathlib.Path(__file__).parent.parent / "tests" / "network" / "fixtures"
# So that a test is soon done.
SMALLER_INPUTS = {"resnet18": (3, 64, 64), "resnet50": (3, 64, 64),
                  "mobilenet_v2": (3, 64, 64), "mobilenet_v3_small": (3, 64, 64),
                  "vit_ti_16": (3, 64, 64), "vit_s_16": (3, 48, 48), "vit_b_16": (3, 32, 32),
                  "vit_b_32": (3, 64, 64)}
SGD = {"lr": 0.05, "momentum": 0.9, "weight_decay": 1e-3, "nesterov": True}
RATE_WITH_NORMS = 1e-3
# Batch norms of many layers magnify any difference from step to step.
DEEP_RATES = {"resnet50": 1e-5, "mobilenet_v2": 1e-5}
NO_GRADIENT = 1e-12  # the norm of rounding errors: a bias before a batch norm has no gradient


def uniform(count, seed):
    """Numbers in [-1, 1), the same as torch_number() in the test."""
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
    return {"norm": flat.norm().item(), "step": step, "size": flat.numel(),
            "elements": flat[::step].tolist()[:SAMPLES]}


def describe_all(tensors):
    return {name: describe(tensor) for name, tensor in tensors}


def train(name, shape, sgd, dtype):
    """Three steps in that precision."""
    model = make_model(name, shape[1], dropout=False)
    fill(model)
    model = model.to(dtype)
    images = torch.from_numpy(uniform(BATCH * int(np.prod(shape)), 1000)).reshape(BATCH, *shape)
    labels = torch.arange(BATCH) * 7 % 10
    optimizer = torch.optim.SGD(model.parameters(), **sgd)
    found = {"losses": [], "logits": []}
    for step in range(3):
        optimizer.zero_grad()
        logits = model(images.to(dtype))
        loss = torch.nn.functional.cross_entropy(logits, labels)
        loss.backward()
        found["losses"].append(loss.item())
        found["logits"].append(logits.detach().flatten().tolist())
        if step == 0:
            found["gradients"] = describe_all(
                (key, value.grad) for key, value in model.named_parameters())
        optimizer.step()
    found["values"] = describe_all(model.named_parameters())
    found["statistics"] = describe_all(
        (key, value) for key, value in model.named_buffers() if "running" in key)
    return found


def distance(found, exact):
    """The root mean square of all differences, each relative to its tensor's root mean square."""
    squares, count = 0.0, 0
    for name, tensor in exact.items():
        if tensor["norm"] < NO_GRADIENT:
            continue
        scale = tensor["norm"] / tensor["size"] ** 0.5
        differences = [(a - b) / scale
                       for a, b in zip(found[name]["elements"], tensor["elements"])]
        differences.append(found[name]["norm"] / tensor["norm"] - 1)
        squares += sum(one * one for one in differences)
        count += len(differences)
    return (squares / max(count, 1)) ** 0.5


def vector_distance(found, exact):
    return float(np.linalg.norm(np.subtract(found, exact)) / np.linalg.norm(exact))


def distances(found, exact):
    result = {kind: distance(found[kind], exact[kind])
              for kind in ("gradients", "values", "statistics")}
    result["losses"] = [abs(a - b) for a, b in zip(found["losses"], exact["losses"])]
    result["logits"] = [vector_distance(a, b) for a, b in zip(found["logits"], exact["logits"])]
    return result


def rounded(thing):
    """With as many digits as fp32 needs and a few more, to keep the files small."""
    if isinstance(thing, dict):
        return {key: rounded(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [rounded(value) for value in thing]
    return float(f"{thing:.10g}") if isinstance(thing, float) else thing


def write(path, fixture):
    """One line per tensor."""
    text = json.dumps(rounded(fixture), separators=(",", ":"))
    path.write_text(text.replace('},"', '},\n"') + "\n")


def make(name):
    torch.manual_seed(0)
    shape = SMALLER_INPUTS.get(name, INPUTS[name])
    sgd = dict(SGD)
    if any(isinstance(module, torch.nn.BatchNorm2d) for module in make_model(name).modules()):
        sgd["lr"] = DEEP_RATES.get(name, RATE_WITH_NORMS)
    single, exact = (train(name, shape, sgd, dtype) for dtype in (torch.float32, torch.float64))
    FOLDER.mkdir(exist_ok=True)
    write(FOLDER / f"{name}.json", {
        "model": name, "input": shape, "batch": BATCH, "sgd": sgd,
        "first": {"loss": single["losses"][0], "logits": single["logits"][0]},
        "exact": exact, "distances": distances(single, exact)})


if __name__ == "__main__":
    for model_name in sys.argv[1:] or MODELS:
        make(model_name)
