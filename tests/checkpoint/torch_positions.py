#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Resizes position embeddings as timm does, for tests/checkpoint/position_resize_test.cpp.

  torch_positions.py < {"positions": [[...]], "from": 7, "to": 2, "channels": 3} > resized
"""

import json
import sys

import torch

request = json.load(sys.stdin)
table = torch.tensor(request["positions"]).reshape(1, -1, request["channels"])
side, new = request["from"], request["to"]
grid = table[:, 1:].reshape(1, side, side, -1).permute(0, 3, 1, 2)
grid = torch.nn.functional.interpolate(grid, size=(new, new), mode="bicubic", align_corners=False)
resized = torch.cat([table[:, :1], grid.permute(0, 2, 3, 1).reshape(1, new * new, -1)], 1)
json.dump(resized.flatten().tolist(), sys.stdout)
