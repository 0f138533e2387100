# SPDX-License-Identifier: Apache-2.0
"""convoy's models in PyTorch, under the names that convoy's checkpoints use.

The oracle of the tests and the peer of the benchmarks.
"""

from collections import OrderedDict

import torch.nn as nn


def _sequential(*layers):
    """Layers are (name, module) or a module without parameters."""
    named = OrderedDict()
    for number, layer in enumerate(layers):
        name, module = layer if isinstance(layer, tuple) else (f"layer{number}", layer)
        named[name] = module
    return nn.Sequential(named)


def lenet5(classes=10, dropout=True):
    return _sequential(
        ("conv1", nn.Conv2d(1, 6, 5, padding=2)), nn.ReLU(), nn.MaxPool2d(2),
        ("conv2", nn.Conv2d(6, 16, 5)), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(),
        ("fc1", nn.Linear(400, 120)), nn.ReLU(),
        ("fc2", nn.Linear(120, 84)), nn.ReLU(),
        ("fc3", nn.Linear(84, classes)))


def cnn1(classes=10, dropout=True):
    return _sequential(
        ("conv1", nn.Conv2d(1, 32, 3)), nn.ReLU(),
        ("conv2", nn.Conv2d(32, 64, 3)), nn.MaxPool2d(2),
        nn.Dropout(0.25 if dropout else 0.0), nn.Flatten(),
        ("fc1", nn.Linear(9216, 128)), nn.ReLU(), nn.Dropout(0.5 if dropout else 0.0),
        ("fc2", nn.Linear(128, classes)))


def mlp6(classes=10, dropout=True):
    widths = [3072, 1024, 512, 256, 128, 64, 32]
    layers = [nn.Flatten()]
    for number, (src, dst) in enumerate(zip(widths, widths[1:]), start=1):
        layers += [(f"fc{number}", nn.Linear(src, dst)), nn.ReLU()]
    return _sequential(*layers, (f"fc{len(widths)}", nn.Linear(widths[-1], classes)))


MODELS = {"lenet5": lenet5, "cnn1": cnn1, "mlp6": mlp6}
INPUTS = {"lenet5": (1, 28, 28), "cnn1": (1, 28, 28), "mlp6": (3, 32, 32)}
