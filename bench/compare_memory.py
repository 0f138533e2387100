#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Peak resident memory of a training process, convoy's compared with PyTorch's.

  bench/compare_memory.py [--optimizer sgd] [--python FILE ...] [vgg11:256 resnet18_cifar:128 ...]

Each runs a few steps in its own process, on two threads. Memory is what the kernel counts: the
largest resident set of the process.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TORCH_STEPS = """
import resource, sys
sys.path.insert(0, "bench")
import torch, torch_peer
if sys.argv[3] == "adam":
    torch_peer.make_optimizer = lambda parameters: torch.optim.Adam(list(parameters), lr=0.002)
torch_peer.LEAST_STEPS, torch_peer.WARM_UP_SECONDS = 2, 0  # nothing is timed
torch_peer.measure(sys.argv[1], 0, int(sys.argv[2]), 2, "eager", 0.1)
print(torch.__version__.split("+")[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def convoy_bytes(model, batch, optimizer):
    command = [ROOT / "build" / "convoy", "bench", "step", f"model={model}",
               f"train.batch_size={batch}", f"optimizer={optimizer}", "cluster.threads=2",
               "--seconds", "0.1", "--json"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output)["peak_rss_bytes"]


def torch_bytes(python, model, batch, optimizer):
    """The version of PyTorch, and its bytes."""
    command = [python, "-c", TORCH_STEPS, model, str(batch), optimizer]
    version, count = subprocess.run(command, cwd=ROOT, check=True, capture_output=True,
                                    text=True).stdout.split()
    return version, int(count)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", default=["vgg11:256", "resnet18_cifar:128"])
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--python", action="append", help="interpreters of PyTorch")
    return parser.parse_args()


def main():
    options = arguments()
    print("| model | batch | optimizer | convoy MB | PyTorch | MB | convoy's part |")
    print("| --- | ---: | --- | ---: | --- | ---: | ---: |")
    for case in options.cases:
        model, batch = case.split(":")
        ours = convoy_bytes(model, batch, options.optimizer)
        for python in options.python or ["/usr/bin/python3"]:
            version, theirs = torch_bytes(python, model, batch, options.optimizer)
            print(f"| {model} | {batch} | {options.optimizer} | {ours / 1e6:.0f} | {version} "
                  f"| {theirs / 1e6:.0f} | {ours / theirs:.0%} |", flush=True)


if __name__ == "__main__":
    main()
