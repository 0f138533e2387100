#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resizes images as torchvision's Resize resizes PIL images: by Pillow's BILINEAR.

Reads JSON: a list of {"channels", "height", "width", "to": [height, width], "floats": whether
pixels are floats, "pixels": [channel][row][column], flat}. Prints the resized images, flat.
"""
import json
import sys

import numpy
from PIL import Image


def resized_plane(plane, to):
    return numpy.asarray(Image.fromarray(plane).resize((to[1], to[0]), Image.BILINEAR))


def resized(case):
    shape = case["channels"], case["height"], case["width"]
    dtype = numpy.float32 if case["floats"] else numpy.uint8
    image = numpy.array(case["pixels"], dtype=dtype).reshape(shape)
    if shape[0] == 3 and not case["floats"]:  # as CIFAR's images are: one of RGB, not three planes
        rgb = Image.fromarray(numpy.ascontiguousarray(image.transpose(1, 2, 0)))
        small = numpy.asarray(rgb.resize((case["to"][1], case["to"][0]), Image.BILINEAR))
        return small.transpose(2, 0, 1)
    return numpy.stack([resized_plane(plane, case["to"]) for plane in image])


json.dump([resized(case).flatten().tolist() for case in json.load(sys.stdin)], sys.stdout)
