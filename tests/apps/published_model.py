# SPDX-License-Identifier: Apache-2.0
"""A model as timm or torchvision publishes it, with random weights, for published_models_test.cpp.

  published_model.py timm|torchvision NAME SIDE FOLDER

Writes to the folder: weights.pth as torch.save() does, images and the logits of them as
little-endian fp32. Batch norms have seen the images once.
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
    """Values in place of zeros and ones, and a head whose logits are about one: where values are
    alike or small, a wrong place would not show."""
    for parameter in model.parameters():
        if parameter.std() < 1e-3:
            parameter += 0.1 * torch.randn_like(parameter)
    head = [module for module in model.modules() if isinstance(module, torch.nn.Linear)][-1]
    torch.nn.init.normal_(head.weight, std=head.in_features ** -0.5)


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
