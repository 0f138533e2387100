#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Peak resident memory of a training process, convoy's compared with PyTorch's.

  bench/compare_memory.py [--optimizer sgd] [--precisions fp32,amp_o2,bf16] [--python FILE ...]
                          [vgg11:256 resnet18_cifar:128 ...]

Each runs a few steps in its own process (PyTorch two, the first of which has two images), on two
threads. Memory is what the kernel counts: the largest resident set of the process (VmHWM). Beside
16 bits, of either kind, PyTorch trains under torch.autocast with bfloat16.
"""

import argparse
import datetime
import functools
import json
import pathlib
import subprocess
import sys

from compare_step import ROOT, given_words, processor

TORCH_STEPS = """
import resource, sys
sys.path.insert(0, "bench")
import torch, torch_peer
if sys.argv[3] == "adam":
    torch_peer.make_optimizer = lambda parameters: torch.optim.Adam(list(parameters), lr=0.002)
torch.set_num_threads(2)
training = torch_peer.Training(sys.argv[1], 0, int(sys.argv[2]), sys.argv[4], "eager")
images, labels = training.images, training.labels
training.images, training.labels = images[:2], labels[:2]
training.step()  # makes the optimizer's state: autocast may take many minutes for a whole batch
training.images, training.labels = images, labels
training.step()
print(torch.__version__.split("+")[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def convoy_bytes(model, batch, optimizer, precision):
    command = [ROOT / "build" / "convoy", "bench", "step", f"model={model}",
               f"train.batch_size={batch}", f"optimizer={optimizer}", f"precision={precision}",
               "cluster.threads=2", "--seconds", "0.1", "--json"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output)["peak_rss_bytes"]


@functools.cache
def torch_bytes(python, model, batch, optimizer, precision):
    """The version of PyTorch, and its bytes."""
    command = [python, "-c", TORCH_STEPS, model, str(batch), optimizer, precision]
    version, count = subprocess.run(command, cwd=ROOT, check=True, capture_output=True,
                                    text=True).stdout.split()
    return version, int(count)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", default=["vgg11:256", "resnet18_cifar:128"])
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--precisions", default="fp32", help="of convoy")
    parser.add_argument("--python", action="append", help="interpreters of PyTorch")
    parser.add_argument("--out", type=pathlib.Path, help="file for the table")
    return parser.parse_args()


def rows(case, precision, options):
    model, batch = case.split(":")
    ours = convoy_bytes(model, batch, options.optimizer, precision)
    for python in options.python or ["/usr/bin/python3"]:
        autocast = "fp32" if precision == "fp32" else "bf16"
        version, theirs = torch_bytes(python, model, batch, options.optimizer, autocast)
        yield (f"| {model} | {batch} | {options.optimizer} | {precision} | {ours / 1e6:.0f} "
               f"| {version} {autocast} | {theirs / 1e6:.0f} | {ours / theirs:.0%} |")


def heading(options):
    return (f"# Peak memory: convoy beside PyTorch\n\n{datetime.date.today()}, {processor()}, by "
            f"`bench/compare_memory.py {given_words()}`: a few\nsteps in a process of their own, "
            "two threads. Memory is the largest resident set that the kernel counts.")


def table(options):
    yield "| model | batch | optimizer | precision | convoy MB | PyTorch | MB | convoy's part |"
    yield "| --- | ---: | --- | --- | ---: | --- | ---: | ---: |"
    for case in options.cases:
        for precision in options.precisions.split(","):
            yield from rows(case, precision, options)


def main():
    options, lines = arguments(), []
    for line in table(options):
        lines.append(line)
        print(line, flush=True)
    if options.out:
        options.out.write_text("\n".join([heading(options), "", *lines]) + "\n")


if __name__ == "__main__":
    main()
