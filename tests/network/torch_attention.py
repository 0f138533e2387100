#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch computes for attention with mask and bias, for attention_test.cpp.

  torch_attention.py < cases.json > results.json
"""

import json
import pathlib
import sys

import torch
from torch import nn

sys.path.append(str(pathlib.Path(__file__).parent.parent.parent / "tools"))
from make_fixtures import describe, fill, uniform  # noqa: E402

BATCH, CLASSES, IMAGE_CHANNELS = 5, 10, 3


class Bias(nn.Module):
    """A module, so that its parameter comes after that of the layer before it."""

    def __init__(self, *shape):
        super().__init__()
        self.table = nn.Parameter(torch.empty(shape))


class Attention(nn.Module):
    """torchvision's shifted_window_attention, whose windows are given."""

    def __init__(self, case):
        super().__init__()
        self.case = case
        self.tokens = case["rows"] // case["windows"]
        heads = case["heads"]
        self.qkv = nn.Linear(IMAGE_CHANNELS, 3 * case["channels"])
        if case["index"]:
            self.bias = Bias(max(case["index"]) + 1, heads)
        elif case["bias"]:
            self.bias = Bias(heads, self.tokens, self.tokens)
        self.head = nn.Linear(case["channels"] * case["rows"], CLASSES)

    def bias_of_pairs(self):
        if not self.case["index"]:
            return self.bias.table
        pairs = self.bias.table[torch.tensor(self.case["index"])]
        return pairs.view(self.tokens, self.tokens, -1).permute(2, 0, 1)

    def unseen(self):
        """[window, 1, query, key]"""
        unseen = torch.zeros(self.case["windows"], 1, self.tokens, self.tokens, dtype=bool)
        if self.case["causal"]:
            unseen |= torch.ones(self.tokens, self.tokens, dtype=bool).triu(1)
        if self.case["regions"]:
            regions = torch.tensor(self.case["regions"]).view(-1, 1, self.tokens)
            unseen |= (regions.unsqueeze(2) != regions.unsqueeze(3))
        return unseen

    def forward(self, rows):
        case = self.case
        batch, size = len(rows), case["channels"] // case["heads"]
        qkv = self.qkv(rows).view(batch, case["windows"], self.tokens, 3, case["heads"], size)
        query, key, value = qkv.permute(3, 0, 1, 4, 2, 5)
        scores = query @ key.transpose(-2, -1) * size ** -0.5
        if case["bias"]:
            scores = scores + self.bias_of_pairs()
        weights = scores.masked_fill(self.unseen(), -torch.inf).softmax(-1)
        result = (weights @ value).transpose(2, 3).reshape(batch, case["rows"], -1)
        return self.head(result.transpose(1, 2).flatten(1))


def result(case):
    net = Attention(case)
    fill(net)
    images = torch.from_numpy(uniform(BATCH * IMAGE_CHANNELS * case["rows"], 1000))
    logits = net(images.view(BATCH, IMAGE_CHANNELS, case["rows"]).transpose(1, 2))
    labels = torch.arange(BATCH) * 7 % CLASSES
    nn.functional.cross_entropy(logits, labels, reduction="sum").backward()
    return {"logits": describe(logits),
            "gradients": [describe(parameter.grad) for parameter in net.parameters()]}


if __name__ == "__main__":
    json.dump([result(case) for case in json.load(sys.stdin)], sys.stdout)
