#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images as torchvision's transforms change them, with its PIL back end.

Reads JSON: "size" [width, height], to which images are resized first, "out", a file, and "cases", each
with the "path" of an image and either "operation", a name of RandAugment's, with its "magnitude", or
"order" and "factors" of ColorJitter. Writes all results to the file, each as [channel][row][column], and
prints the magnitudes of RandAugment's operations for that size.
"""
import json
import sys

import numpy
from PIL import Image
from torchvision.transforms import InterpolationMode, RandAugment, autoaugment, functional

ADJUST = [functional.adjust_brightness, functional.adjust_contrast, functional.adjust_saturation,
          functional.adjust_hue]


def changed(image, case):
    if "operation" in case:
        return autoaugment._apply_op(image, case["operation"], case["magnitude"],
                                     interpolation=InterpolationMode.BILINEAR, fill=None)
    for part in case["order"]:
        image = ADJUST[part](image, case["factors"][part])
    return image


def magnitudes(width, height):
    space = RandAugment()._augmentation_space(31, (height, width))
    return {name: [float(m) for m in numbers] if numbers.ndim > 0 else [0.0] * 31
            for name, (numbers, _) in space.items()}


def signed(width, height):
    return [name for name, (_, has_sign) in RandAugment()._augmentation_space(31, (height, width)).items()
            if has_sign]


request = json.load(sys.stdin)
with open(request["out"], "wb") as out:
    for case in request["cases"]:
        with Image.open(case["path"]) as file:
            resized = file.convert("RGB").resize(tuple(request["size"]), Image.BILINEAR)
        out.write(numpy.asarray(changed(resized, case)).transpose(2, 0, 1).tobytes())
json.dump({"magnitudes": magnitudes(*request["size"]), "signed": signed(*request["size"])}, sys.stdout)
