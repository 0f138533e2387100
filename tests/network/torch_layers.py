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


def is_even(padding):
    left, right, top, bottom = padding
    return left == right and top == bottom


def even(padding):
    """Height and width of padding that both sides have."""
    return padding[2], padding[0]


def middle(layer, channels, features):
    kind = layer["kind"]
    if kind == "convolution":
        return nn.Sequential(nn.ZeroPad2d(layer["padding"]),
                             nn.Conv2d(channels, layer["channels"], layer["kernel"],
                                       layer["step"], dilation=layer["dilation"],
                                       groups=layer["groups"], bias=layer["bias"]))
    if kind == "linear":
        return nn.Sequential(nn.Flatten(), nn.Linear(features, layer["features"]))
    if kind == "batch norm":
        return nn.BatchNorm2d(channels, eps=layer["epsilon"])
    if kind == "max pool":
        if is_even(layer["padding"]):
            return nn.MaxPool2d(layer["kernel"], layer["step"], even(layer["padding"]),
                                ceil_mode=layer["ceil"])
        return nn.Sequential(nn.ConstantPad2d(layer["padding"], -torch.inf),
                             nn.MaxPool2d(layer["kernel"], layer["step"]))
    if kind == "average pool":
        if is_even(layer["padding"]):
            return nn.AvgPool2d(layer["kernel"], layer["step"], even(layer["padding"]),
                                layer["ceil"], layer["count padding"])
        return nn.Sequential(nn.ZeroPad2d(layer["padding"]),
                             nn.AvgPool2d(layer["kernel"], layer["step"]))
    if kind == "adaptive average pool":
        return nn.AdaptiveAvgPool2d(layer["size"])
    if kind == "clip":
        return nn.Hardtanh(layer["min"], layer["max"])
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
