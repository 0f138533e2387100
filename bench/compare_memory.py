#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Peak resident memory of a training process, convoy's compared with PyTorch's.

  bench/compare_memory.py [vgg11:256 resnet18_cifar:128 ...]

Each runs a few steps in its own process, on two threads.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TORCH_STEPS = """
import resource, sys
sys.path.insert(0, "bench")
import torch, torch_peer
torch_peer.measure(sys.argv[1], 0, int(sys.argv[2]), 2, "eager", 0.1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def convoy_bytes(model, batch):
    command = [ROOT / "build" / "convoy", "bench", "step", f"model={model}",
               f"train.batch_size={batch}", "cluster.threads=2", "--seconds", "0.1", "--json"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output)["peak_rss_bytes"]


def torch_bytes(model, batch):
    command = ["/usr/bin/python3", "-c", TORCH_STEPS, model, str(batch)]
    return int(subprocess.run(command, cwd=ROOT, check=True, capture_output=True,
                              text=True).stdout)


def main():
    print("| model | batch | convoy MB | PyTorch MB |")
    print("| --- | ---: | ---: | ---: |")
    for case in sys.argv[1:] or ["vgg11:256", "resnet18_cifar:128"]:
        model, batch = case.split(":")
        print(f"| {model} | {batch} | {convoy_bytes(model, batch) / 1e6:.0f} "
              f"| {torch_bytes(model, batch) / 1e6:.0f} |", flush=True)


if __name__ == "__main__":
    main()
