#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of compare_accuracy.py: the training that a run's settings describe.

  bench/torch_training.py RUN/config.yaml [--data FOLDER] [--threads 2] [--keep FOLDER]
  bench/torch_training.py RUN/config.yaml --same-batches --weights FILE --steps 3

What a user of PyTorch writes: a new permutation every epoch, the last batch as it comes. Reads
convoy's data files; prints one line of JSON. With --keep every epoch's end stays in FOLDER, and
a training that was stopped resumes from the last. With --same-batches the samples come in
convoy's order; --weights writes the first weights as safetensors, from which convoy starts with
model.init=FILE; and --steps ends after that many steps, whose losses are printed.
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
from convert_torch import tensors_of, write_safetensors  # noqa: E402
from convoy_order import epoch_order, split_anew  # noqa: E402
from torch_models import make_model  # noqa: E402

HEAD_BYTES = 256  # of convoy's data file: convoy/data/convoy_format.h
EVALUATED_AT_ONCE = 250
PADDING = 4  # of crop_flip
EMBEDDINGS = ("cls_token", "pos_embed")  # are no weights
# What a run may have for this to be the same training.
KNOWN = {"optimizer.name": ["sgd", "adam", "adamw"], "optimizer.nesterov": [False],
         "optimizer.groups": [""], "optimizer.layer_decay": [1], "optimizer.bias_lr_scale": [1],
         "schedule.name": ["constant", "onecycle", "plateau"], "schedule.warmup_epochs": [0],
         "data.normalize": ["all", "channel", "fixed"], "data.val_fraction": [0],
         "train.augment": ["none", "crop_flip"], "train.label_smoothing": [0],
         "train.whiten": [False], "train.freeze": [""], "train.ema": [0], "train.swa_start": [0],
         "train.patience": [0], "eval.flip": [False], "eval.shift": [0]}


def check(settings):
    for name, known in KNOWN.items():
        section, key = name.split(".")
        if settings[section][key] not in known:
            sys.exit(f"{name} is {settings[section][key]!r}: PyTorch's side knows {known}")


def read_half(path, dataset):
    """Images as bytes, and labels."""
    file = numpy.fromfile(path, numpy.uint8)
    name = bytes(file[40:104]).rstrip(b"\0").decode()
    if name != dataset:
        sys.exit(f"{path}: holds {name}, expected {dataset}")
    shape = [int(number) for number in file[12:24].view("<u4")]
    count = int(file[32:40].view("<u8")[0])
    images = file[HEAD_BYTES + count:].reshape(count, *shape)
    labels = file[HEAD_BYTES:HEAD_BYTES + count].astype(numpy.int64)
    return torch.from_numpy(images), torch.from_numpy(labels)


class Data:
    """Both halves, cut as data.split says, and how a batch is made of them."""

    def __init__(self, folder, settings):
        self.settings, data = settings, settings["data"]
        halves = [read_half(folder / f"{half}.convoy", data["name"]) for half in ("train", "test")]
        self.train, self.test = split(halves, data) if data.get("split") else halves
        self.mean, self.deviation = self.moments(data)

    def moments(self, data):
        if data["normalize"] == "fixed":
            return [torch.tensor(data[name]).view(1, -1, 1, 1) for name in ("mean", "std")]
        pixels = self.train[0].float() / 255
        over = dict(dim=(0, 2, 3), keepdim=True) if data["normalize"] == "channel" else {}
        return pixels.mean(**over), pixels.std(**over)

    def resized(self, images):
        size = self.settings["data"].get("resize")
        return torch.stack([resized(image, size) for image in images]) if size else images

    def normalized(self, images):
        return (images.float() / 255 - self.mean) / self.deviation

    def batch(self, samples):
        images, labels = self.resized(self.train[0][samples]), self.train[1][samples]
        if self.settings["train"]["augment"] == "crop_flip":
            images = crop_and_flip(images)
        return self.normalized(images), labels


def split(halves, data):
    images, labels = (torch.cat([half[i] for half in halves]) for i in (0, 1))
    parts = split_anew(data["split"], data["split_seed"])
    return [(images[part], labels[part]) for part in (parts[0], parts[2])]


def resized(image, size):
    """As torchvision's Resize does to a PIL image."""
    from PIL import Image
    bands = [Image.fromarray(band.byte().numpy()).resize((size, size), Image.BILINEAR)
             for band in image]
    return torch.stack([torch.from_numpy(numpy.array(band)) for band in bands])


def crop_and_flip(images):
    """Moves each image by up to four pixels, over black, and mirrors half of them, as torchvision's
    RandomCrop(32, padding=4) and RandomHorizontalFlip() before ToTensor() and Normalize()."""
    count, height, width = len(images), images.shape[2], images.shape[3]
    padded = torch.nn.functional.pad(images, [PADDING] * 4)
    top, left = torch.randint(0, 2 * PADDING + 1, (2, count, 1, 1))
    rows = top + torch.arange(height).view(1, -1, 1)
    columns = left + torch.arange(width).view(1, 1, -1)
    mirrored = torch.rand(count, 1, 1) < 0.5
    columns = torch.where(mirrored, columns.flip(2), columns)
    index = torch.arange(count).view(-1, 1, 1)
    return padded.permute(0, 2, 3, 1)[index, rows, columns].permute(0, 3, 1, 2).contiguous()


def make_optimizer(model, options):
    decays, others = [], []
    for name, parameter in model.named_parameters():
        is_weight = parameter.dim() > 1 and name not in EMBEDDINGS
        (decays if is_weight or options["decay_norm_and_bias"] else others).append(parameter)
    groups = [{"params": decays, "weight_decay": options["weight_decay"]},
              {"params": others, "weight_decay": 0.0}]
    groups = [group for group in groups if group["params"]]
    if options["name"] == "sgd":
        return torch.optim.SGD(groups, lr=options["lr"], momentum=options["momentum"])
    kind = torch.optim.AdamW if options["name"] == "adamw" else torch.optim.Adam
    return kind(groups, lr=options["lr"], betas=(options["beta1"], options["beta2"]),
                eps=options["eps"])


def make_schedule(optimizer, options, rate, steps):
    if options["name"] != "onecycle":
        return None  # a plateau does not act before its patience is over
    return torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=options["max_lr"] or rate, total_steps=steps,
        pct_start=options["pct_start"], anneal_strategy=options["anneal"],
        div_factor=options["div_factor"], final_div_factor=options["final_div_factor"],
        cycle_momentum=options["cycle_momentum"], base_momentum=options["base_momentum"],
        max_momentum=options["max_momentum"])


class Training:
    """A model with what trains it."""

    def __init__(self, settings, data, used, same_batches):
        self.settings, self.data, self.used = settings, data, used
        self.same_batches = same_batches
        self.model = make_model(settings["model"]["name"], settings["data"].get("resize"))
        self.optimizer = make_optimizer(self.model, settings["optimizer"])
        batch = settings["train"]["batch_size"]
        steps = -(-len(used) // batch) * settings["train"]["epochs"]
        self.schedule = make_schedule(self.optimizer, settings["schedule"],
                                      settings["optimizer"]["lr"], steps)
        self.loss = torch.nn.CrossEntropyLoss()

    def parts(self):
        parts = {"model": self.model, "optimizer": self.optimizer, "schedule": self.schedule}
        return {name: part for name, part in parts.items() if part}

    def batches(self, epoch):
        order = (torch.from_numpy(epoch_order(len(self.used), self.settings["train"]["seed"], epoch))
                 if self.same_batches else torch.randperm(len(self.used)))
        return self.used[order].split(self.settings["train"]["batch_size"])

    def step(self, samples):
        images, labels = self.data.batch(samples)
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.model(images), labels)
        loss.backward()
        if self.settings["optimizer"]["clip_norm"]:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(),
                                           self.settings["optimizer"]["clip_norm"])
        self.optimizer.step()
        if self.schedule:
            self.schedule.step()
        return loss.item()

    def epoch(self, number):
        self.model.train()
        return [self.step(samples) for samples in self.batches(number)]


def identity(settings):
    """What the epochs of one training have in common."""
    groups = ("model", "data", "optimizer", "schedule")
    whole = settings["schedule"]["name"] == "onecycle"  # spans the run
    train = settings["train"] if whole else {**settings["train"], "epochs": "any"}
    return {**{name: settings[name] for name in groups}, "train": train}


def save(folder, epoch, state):
    part = folder / "part"
    torch.save(state, part)
    part.rename(folder / f"epoch_{epoch}.pt")


def load(folder, training):
    """Takes up the last epoch kept, if any; returns its number and the seconds up to it."""
    folder.mkdir(parents=True, exist_ok=True)
    for epoch in range(training.settings["train"]["epochs"], 0, -1):
        path = folder / f"epoch_{epoch}.pt"
        if not path.exists():
            continue
        state = torch.load(path)
        if state["settings"] != identity(training.settings):
            sys.exit(f"{path}: is of a training with other settings")
        for name, part in training.parts().items():
            part.load_state_dict(state[name])
        torch.set_rng_state(state["random"])
        return epoch, state["seconds"]
    return 0, 0


def train(training, keep):
    """Returns the seconds that all epochs took, those before a stop among them."""
    done, seconds = load(keep, training) if keep else (0, 0)
    for epoch in range(done + 1, training.settings["train"]["epochs"] + 1):
        begin = time.monotonic()
        training.epoch(epoch)
        seconds += time.monotonic() - begin
        if keep:
            states = {name: part.state_dict() for name, part in training.parts().items()}
            save(keep, epoch, {**states, "settings": identity(training.settings),
                               "random": torch.get_rng_state(), "seconds": seconds})
    return seconds


def accuracy(model, data):
    with torch.no_grad():
        found = [model(data.normalized(data.resized(part))).argmax(1)
                 for part in data.test[0].split(EVALUATED_AT_ONCE)]
    return float((torch.cat(found) == data.test[1]).float().mean())


def first_steps(training, count):
    """Losses and seconds of the first steps."""
    training.model.train()
    losses, seconds = [], []
    for samples in training.batches(1)[:count]:
        begin = time.monotonic()
        losses.append(training.step(samples))
        seconds.append(time.monotonic() - begin)
    return {"losses": losses, "seconds": seconds}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("settings", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, help="folder of train.convoy")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for every epoch's end")
    parser.add_argument("--same-batches", action="store_true", help="samples in convoy's order")
    parser.add_argument("--weights", type=pathlib.Path, help="file for the first weights")
    parser.add_argument("--steps", type=int, help="only the first steps, and their losses")
    return parser.parse_args()


def main():
    options = arguments()
    settings = yaml.safe_load(options.settings.read_text())
    check(settings)
    torch.set_num_threads(options.threads)
    torch.manual_seed(settings["train"]["seed"])
    folder = options.data or pathlib.Path.home() / ".cache" / "convoy" / settings["data"]["name"]
    data = Data(folder, settings)
    count = len(data.train[0])
    used = torch.arange(count)
    if settings["data"]["train_fraction"] < 1:
        used = torch.randperm(count)[:round(count * settings["data"]["train_fraction"])]
    training = Training(settings, data, used, options.same_batches)
    if options.weights:
        write_safetensors(options.weights, tensors_of(training.model.state_dict()))
    if options.steps is not None:
        answer = first_steps(training, options.steps)
    else:
        answer = {"seconds": train(training, options.keep),
                  "accuracy": accuracy(training.model.eval(), data)}
    print(json.dumps({**answer, "torch": torch.__version__}))


if __name__ == "__main__":
    main()
