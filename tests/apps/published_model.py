# SPDX-License-Identifier: Apache-2.0
"""A model as timm or torchvision publishes it, with random weights, for published_models_test.cpp.

  published_model.py timm|torchvision NAME SIDE FOLDER

Writes to the folder: weights.pth as torch.save() does, images and the logits of them as
little-endian fp32. The running statistics are those of the images.
"""

import pathlib
import sys

import torch

SAMPLES, CLASSES = 3, 10


def make(library, name):
    if library == "timm":
        import timm
        return timm.create_model(name, pretrained=False, num_classes=CLASSES)
    import torchvision
    return torchvision.models.get_model(name, weights=None, num_classes=CLASSES)


def make_different(model):
    """Values in place of zeros and ones, and linear layers that make numbers of about one: where
    numbers are alike or small, a wrong place would not show."""
    for parameter in model.parameters():
        if parameter.std() < 1e-3:
            parameter += 0.1 * torch.randn_like(parameter)
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.normal_(module.weight, std=module.in_features ** -0.5)
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = None  # the mean of all batches, of which there is one


def main():
    library, name, side, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = make(library, name)
    images = torch.randn(SAMPLES, 3, int(side), int(side))
    with torch.no_grad():
        make_different(model)
        model(images)
        logits = model.eval()(images)
    torch.save(model.state_dict(), folder / "weights.pth")
    images.numpy().astype("<f4").tofile(folder / "images")
    logits.numpy().astype("<f4").tofile(folder / "logits")


if __name__ == "__main__":
    main()
