#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch computes for single layers, for tests/network/torch_layers_test.cpp.

  torch_layers.py < layers.json > results.json

Each layer stands between a convolution of one tap, whose gradient shows that of the layer's
source, and a linear layer, which gives each of its outputs a gradient of its own.
"""

import json
import pathlib
import sys

import torch
from torch import nn

sys.path.append(str(pathlib.Path(__file__).parent.parent.parent / "tools"))
from make_fixtures import describe, fill, uniform  # noqa: E402

CLASSES = 10
IMAGE_CHANNELS = 3


def middle(layer, channels, features):
    kind = layer["kind"]
    if kind == "convolution":
        return nn.Conv2d(channels, layer["channels"], layer["kernel"], layer["step"],
                         layer["padding"], bias=layer["bias"])
    if kind == "linear":
        return nn.Sequential(nn.Flatten(), nn.Linear(features, layer["features"]))
    if kind == "batch norm":
        return nn.BatchNorm2d(channels)
    if kind == "max pool":
        return nn.MaxPool2d(layer["kernel"], layer["step"] or None, layer["padding"])
    if kind == "average pool":
        return nn.AvgPool2d(layer["kernel"]) if layer["kernel"] else nn.AdaptiveAvgPool2d(1)
    if kind == "relu":
        return nn.ReLU()
    if kind == "gelu":
        return nn.GELU()
    raise ValueError(kind)


def result(layer, batch):
    channels, height, width = layer["source"]
    net = nn.Sequential(nn.Conv2d(IMAGE_CHANNELS, channels, 1, bias=False),
                        middle(layer, channels, channels * height * width), nn.Flatten())
    image = torch.from_numpy(uniform(batch * IMAGE_CHANNELS * height * width, 1000))
    image = image.reshape(batch, IMAGE_CHANNELS, height, width)
    net.append(nn.Linear(net(image[:2]).shape[1], CLASSES))
    fill(net)
    logits = net(image)
    labels = torch.arange(batch) * 7 % CLASSES
    nn.functional.cross_entropy(logits, labels, reduction="sum").backward()
    return {"logits": describe(logits),
            "gradients": [describe(parameter.grad) for parameter in net.parameters()]}


if __name__ == "__main__":
    request = json.load(sys.stdin)
    json.dump([result(layer, request["batch"]) for layer in request["layers"]], sys.stdout)
