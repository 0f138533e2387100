#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Image files of every kind, and the pixels that Pillow reads from them as torchvision does.

Reads JSON: {"write": a folder in which files are made} or {"read": a folder whose files are read}.
Prints, by path, width, height and the SHA-256 of the pixels as RGB.
"""
import hashlib
import json
import os
import sys

import numpy
from PIL import Image


def picture(width, height, seed):
    """Gradients, edges and noise, so that colours, rounding and clipping all matter."""
    random = numpy.random.default_rng(seed)
    y, x = numpy.mgrid[0:height, 0:width]
    red = (x * 255 // max(1, width - 1) + (y // 7 % 2) * 60) % 256
    green = (y * 255 // max(1, height - 1)) ^ (x // 5 % 2 * 255)
    blue = random.integers(0, 256, (height, width))
    return Image.fromarray(numpy.stack([red, green, blue], axis=2).astype(numpy.uint8))


def orientation(value):
    exif = Image.Exif()
    exif[0x0112] = value
    return exif


def jpegs():
    plain = picture(133, 97, 1)
    yield "small.jpg", picture(1, 1, 2), {}
    yield "odd.JPEG", picture(17, 35, 3), {"quality": 95}
    for number, name in enumerate(["444", "422", "420"]):
        yield f"sub{name}.jpg", plain, {"quality": 80, "subsampling": number}
        yield f"progressive{name}.jpg", plain, {"progressive": True, "subsampling": number}
    yield "large.jpg", picture(611, 403, 4), {"quality": 60}
    yield "grey.jpg", plain.convert("L"), {}
    yield "progressive_grey.jpg", plain.convert("L"), {"progressive": True}
    yield "cmyk.jpg", plain.convert("CMYK"), {"quality": 90}
    yield "rotated.jpg", plain, {"exif": orientation(6)}


def pngs():
    plain = picture(61, 43, 5)
    yield "rgb.png", plain, {}
    alpha = plain.copy()
    alpha.putalpha(plain.convert("L"))
    yield "rgba.png", alpha, {}
    yield "grey.png", plain.convert("L"), {}
    yield "grey_alpha.png", alpha.convert("LA"), {}
    yield "palette.png", plain.quantize(37), {}
    yield "transparent.png", plain.quantize(12), {"transparency": 3}
    yield "four_colours.png", plain.quantize(4), {"bits": 2}
    yield "black_white.png", plain.convert("1"), {}


def described(path):
    with Image.open(path) as file:
        image = file.convert("RGB")
    digest = hashlib.sha256(image.tobytes()).hexdigest()
    return {"width": image.width, "height": image.height, "sha256": digest}


def paths_in(folder):
    for at, _, names in os.walk(folder):
        yield from (os.path.join(at, name) for name in names)


request = json.load(sys.stdin)
if "write" in request:
    for make in (jpegs, pngs):
        for name, image, options in make():
            image.save(os.path.join(request["write"], name), **options)
folder = request.get("write") or request["read"]
json.dump({path: described(path) for path in paths_in(folder)}, sys.stdout)
