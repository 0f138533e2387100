#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of compare_kfold.py: LeNet-5 on folds of Fashion-MNIST's training set.

  bench/torch_kfold.py --folds 0,1 --epochs 2 --batch 32 [--threads 2] [--per-sample]

Folds are fifths of the training set, as they are. A fold is trained on the other four, in a new
random order every epoch, and scored by its mean loss. With --per-sample, images come from a
DataLoader, one at a time, as torchvision's datasets make them; otherwise they are in one
tensor, normalised beforehand. Prints one line of JSON; reading the files is not timed.
"""

import argparse
import json
import pathlib
import sys
import time

import torch

from torch_fashion import PerSample, normalized, read_labels

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools"))
from torch_models import make_model  # noqa: E402

FOLDS = 5
RATE, MOMENTUM = 0.005, 0.9


class Loaded:
    """Samples of a tensor, batch by batch."""

    def __init__(self, images, labels, samples, batch, shuffled):
        self.images, self.labels = images, labels
        self.samples, self.batch, self.shuffled = samples, batch, shuffled

    def __iter__(self):
        order = torch.randperm(len(self.samples)) if self.shuffled else slice(None)
        for some in self.samples[order].split(self.batch):
            yield self.images[some], self.labels[some]


def maker_of_batches(per_sample, batch):
    if per_sample:
        data = PerSample("train")
        return lambda samples, shuffled: torch.utils.data.DataLoader(
            torch.utils.data.Subset(data, samples.tolist()), batch_size=batch, shuffle=shuffled)
    images, labels = normalized("train"), read_labels("train")
    return lambda samples, shuffled: Loaded(images, labels, samples, batch, shuffled)


def train(model, batches, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
    for _ in range(epochs):
        for images, labels in batches:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()


def mean_loss(model, batches, count):
    with torch.no_grad():
        return sum(torch.nn.functional.cross_entropy(model(images), labels,
                                                     reduction="sum").item()
                   for images, labels in batches) / count


def loss_of_fold(number, make_batches, epochs):
    held_out = torch.arange(60000).chunk(FOLDS)[number]
    rest = torch.cat([fold for i, fold in enumerate(torch.arange(60000).chunk(FOLDS))
                      if i != number])
    model = make_model("lenet5")
    train(model, make_batches(rest, True), epochs)
    return mean_loss(model.eval(), make_batches(held_out, False), len(held_out))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folds", default="0,1")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--per-sample", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    make_batches = maker_of_batches(options.per_sample, options.batch)
    began, began_cpu = time.perf_counter(), time.process_time()
    losses = [loss_of_fold(int(number), make_batches, options.epochs)
              for number in options.folds.split(",")]
    print(json.dumps({"torch": torch.__version__, "seconds": time.perf_counter() - began,
                      "cpu": time.process_time() - began_cpu, "losses": losses}))


if __name__ == "__main__":
    main()
