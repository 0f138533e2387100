#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of compare_landscape.py: seconds per point of a loss landscape.

  bench/torch_landscape.py RUN --points 3 [--threads 2] [--per-sample]

The plane is that of three saves of the run; what it costs does not depend on which. With
--per-sample the images are read as torchvision's datasets do it: an image of Pillow's, a
tensor, normalised, sample by sample, in a DataLoader of batches of 1,024. Otherwise the test
set is one tensor, normalised beforehand, and the faster of several batch sizes counts. Prints
one line of JSON, with the loss of the last save, by which both sides are compared.
"""

import argparse
import json
import pathlib
import sys
import time

import numpy
import torch

from torch_fashion import PerSample, normalized, read_labels

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools"))
from torch_models import make_model  # noqa: E402

BATCHES = (256, 1024)
OF_A_LOADER = 1024


def read_save(path):
    """A safetensors file of fp32 tensors."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    tensors = {}
    for name, entry in json.loads(content[8:end]).items():
        if name != "__metadata__":
            begin, after = entry["data_offsets"]
            numbers = numpy.frombuffer(content[end + begin:end + after], "<f4")
            tensors[name] = torch.from_numpy(numbers.reshape(entry["shape"]).copy())
    return tensors


def loss_of(model, batches, count):
    total = 0.0
    with torch.no_grad():
        for images, labels in batches:
            total += torch.nn.functional.cross_entropy(model(images), labels,
                                                       reduction="sum").item()
    return total / count


def plane_of(saves):
    """Origin and two directions, as one vector each."""
    rows = [torch.cat([tensor.flatten() for tensor in save.values()]) for save in saves]
    return rows[0], rows[1] - rows[0], rows[2] - rows[0]


def set_weights(model, vector):
    torch.nn.utils.vector_to_parameters(vector, model.parameters())


def seconds_per_point(model, plane, batches, points, count):
    """By the clock, and of CPU time."""
    origin, u, v = plane
    began, began_cpu = time.perf_counter(), time.process_time()
    for point in range(points):
        set_weights(model, origin + 0.1 * point * u + 0.2 * v)
        loss_of(model, batches, count)
    return ((time.perf_counter() - began) / points,
            (time.process_time() - began_cpu) / points)


def sets_of_batches(options):
    """By batch size, what is gone through at every point."""
    if options.per_sample:
        return {OF_A_LOADER: torch.utils.data.DataLoader(PerSample("t10k"), batch_size=OF_A_LOADER)}
    images, labels = normalized("t10k"), read_labels("t10k")
    return {size: list(zip(images.split(size), labels.split(size))) for size in BATCHES}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=pathlib.Path)
    parser.add_argument("--points", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--per-sample", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    saves = [read_save(path) for path in sorted((options.run / "saves").iterdir())]
    model = make_model("lenet5").eval()
    model.load_state_dict(saves[-1])
    plane = plane_of([saves[0], saves[len(saves) // 2], saves[-1]])
    sets = sets_of_batches(options)
    count = len(read_labels("t10k"))
    last_loss = loss_of(model, next(iter(sets.values())), count)  # also warms up
    seconds = {size: seconds_per_point(model, plane, batches, options.points, count)
               for size, batches in sets.items()}
    best = min(seconds, key=seconds.get)
    print(json.dumps({"torch": torch.__version__, "seconds": seconds[best][0],
                      "cpu": seconds[best][1], "batch": best, "loss": last_loss}))


if __name__ == "__main__":
    main()
