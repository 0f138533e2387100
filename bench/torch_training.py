#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of compare_accuracy.py: the training that a run's settings describe.

  bench/torch_training.py RUN/config.yaml [--data FOLDER] [--threads 2] [--keep FOLDER]

What a user of PyTorch writes: SGD on a new permutation every epoch, the last batch as it
comes. Reads convoy's data files; prints one line of JSON. With --keep every epoch's end stays
in FOLDER, and a training that was stopped resumes from the last.
"""

import argparse
import json
import pathlib
import sys
import time

import numpy
import torch
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools"))
from torch_models import make_model  # noqa: E402

HEAD_BYTES = 256  # of convoy's data file: convoy/data/convoy_format.h
EVALUATED_AT_ONCE = 250
# What a run has to have for this to be the same training.
SAME = {"optimizer.name": "sgd", "optimizer.weight_decay": 0, "optimizer.nesterov": False,
        "optimizer.clip_norm": 0, "schedule.name": "constant", "schedule.warmup_epochs": 0,
        "data.normalize": "all", "data.val_fraction": 0, "train.augment": "none",
        "train.label_smoothing": 0, "train.whiten": False, "train.ema": 0, "train.swa_start": 0,
        "train.max_steps": 0, "train.patience": 0, "model.init": "", "eval.flip": False,
        "eval.shift": 0, "optimizer.bias_lr_scale": 1}


def check(settings):
    for name, expected in SAME.items():
        section, key = name.split(".")
        if settings[section][key] != expected:
            sys.exit(f"{name} is {settings[section][key]!r}: PyTorch's side knows {expected!r}")


def read_half(path, dataset):
    """Images as floats from 0 to 1, and labels."""
    file = numpy.fromfile(path, numpy.uint8)
    name = bytes(file[40:104]).rstrip(b"\0").decode()
    if name != dataset:
        sys.exit(f"{path}: holds {name}, expected {dataset}")
    shape = [int(number) for number in file[12:24].view("<u4")]
    count = int(file[32:40].view("<u8")[0])
    images = file[HEAD_BYTES + count:].reshape(count, *shape)
    labels = file[HEAD_BYTES:HEAD_BYTES + count].astype(numpy.int64)
    return torch.from_numpy(images).float() / 255, torch.from_numpy(labels)


def train_epoch(model, optimizer, images, labels, batches):
    loss_function = torch.nn.CrossEntropyLoss()
    for batch in batches:
        optimizer.zero_grad(set_to_none=True)
        loss_function(model(images[batch]), labels[batch]).backward()
        optimizer.step()


def identity(settings):
    """What the epochs of one training have in common."""
    train = {**settings["train"], "epochs": "any"}
    return {**{name: settings[name] for name in ("model", "data", "optimizer")}, "train": train}


def save(folder, epoch, state):
    part = folder / "part"
    torch.save(state, part)
    part.rename(folder / f"epoch_{epoch}.pt")


def load(folder, epochs, settings, model, optimizer):
    """Takes up the last epoch kept, if any; returns its number and the seconds up to it."""
    folder.mkdir(parents=True, exist_ok=True)
    for epoch in range(epochs, 0, -1):
        path = folder / f"epoch_{epoch}.pt"
        if not path.exists():
            continue
        state = torch.load(path)
        if state["settings"] != identity(settings):
            sys.exit(f"{path}: is of a training with other settings")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        return epoch, state["seconds"]
    return 0, 0


def train(model, optimizer, images, labels, used, settings, keep):
    """Returns the seconds that all epochs took, those before a stop among them."""
    epochs, batch = settings["train"]["epochs"], settings["train"]["batch_size"]
    done, seconds = load(keep, epochs, settings, model, optimizer) if keep else (0, 0)
    for epoch in range(done + 1, epochs + 1):
        begin = time.monotonic()
        batches = used[torch.randperm(len(used))].split(batch)
        train_epoch(model.train(), optimizer, images, labels, batches)
        seconds += time.monotonic() - begin
        if keep:
            save(keep, epoch, {"settings": identity(settings), "model": model.state_dict(),
                               "optimizer": optimizer.state_dict(),
                               "random": torch.get_rng_state(), "seconds": seconds})
    return seconds


def accuracy(model, images, labels):
    with torch.no_grad():
        found = [model(part).argmax(1) for part in images.split(EVALUATED_AT_ONCE)]
    return float((torch.cat(found) == labels).float().mean())


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("settings", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, help="folder of train.convoy")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for every epoch's end")
    return parser.parse_args()


def main():
    options = arguments()
    settings = yaml.safe_load(options.settings.read_text())
    check(settings)
    torch.set_num_threads(options.threads)
    torch.manual_seed(settings["train"]["seed"])
    name = settings["data"]["name"]
    folder = options.data or pathlib.Path.home() / ".cache" / "convoy" / name
    images, labels = read_half(folder / "train.convoy", name)
    test_images, test_labels = read_half(folder / "test.convoy", name)
    mean, deviation = images.mean(), images.std()
    images, test_images = (images - mean) / deviation, (test_images - mean) / deviation
    used = torch.randperm(len(images))[:round(len(images) * settings["data"]["train_fraction"])]
    model = make_model(settings["model"]["name"], settings["data"].get("resize"))
    optimizer = torch.optim.SGD(model.parameters(), lr=settings["optimizer"]["lr"],
                                momentum=settings["optimizer"]["momentum"])
    seconds = train(model, optimizer, images, labels, used, settings, options.keep)
    print(json.dumps({"seconds": seconds, "torch": torch.__version__,
                      "accuracy": accuracy(model.eval(), test_images, test_labels)}))


if __name__ == "__main__":
    main()
