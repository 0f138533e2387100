#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images as torchvision's transforms show them, with its PIL back end: that is Pillow's crop() and
resize(BILINEAR).

Reads JSON: a list of {"path", "box": [left, top, width, height] that a random resized crop chose, or
null for the centre, "short_side", "size": [width, height]}. Prints the SHA-256 of each result, as
[channel][row][column].
"""
import hashlib
import json
import sys

import numpy
from PIL import Image


def centre(image, short_side, size):
    """Resize(short_side), then CenterCrop(size)."""
    width, height = image.size
    shorter, longer = min(width, height), max(width, height)
    long_side = int(short_side * longer / shorter)
    resized = (short_side, long_side) if width <= height else (long_side, short_side)
    image = image.resize(resized, Image.BILINEAR)
    top = int(round((resized[1] - size[1]) / 2.0))
    left = int(round((resized[0] - size[0]) / 2.0))
    return image.crop((left, top, left + size[0], top + size[1]))


def shown(case):
    with Image.open(case["path"]) as file:
        image = file.convert("RGB")
    if case["box"] is None:
        image = centre(image, case["short_side"], case["size"])
    else:
        left, top, width, height = case["box"]
        image = image.crop((left, top, left + width, top + height))
        image = image.resize(tuple(case["size"]), Image.BILINEAR)
    return hashlib.sha256(numpy.asarray(image).transpose(2, 0, 1).tobytes()).hexdigest()


json.dump([shown(case) for case in json.load(sys.stdin)], sys.stdout)
