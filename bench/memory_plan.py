#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Planned memory of training processes compared with what the kernel measured, and the largest batch
within a limit beside PyTorch's.

  bench/memory_plan.py plan [CASE ...]             twelve combinations, or those whose name has a word
  bench/memory_plan.py limit [--gib 4] [--python FILE] [--recompute none units]

`plan` trains two steps (eight with ps_async, so that every worker has pushed), evaluates and saves; planned is planned_memory of summary.json, measured
its peak_rss_bytes, both of the first rank. `limit` asks `convoy fit` for the largest batch of
vit_b_32 with adam, trains a step with it, sees 1.05 times as much refused, and finds PyTorch's
largest batch by bisection: that whose process stays below the limit.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from compare_memory import ROOT, torch_bytes

CONVOY = ROOT / "build" / "convoy"
VIT = ["model=vit_b_32", "optimizer=adam", "data.resize=224"]
# name, ranks, batch, settings
CASES = [
    ("resnet18_cifar, single", 1, 128, ["model=resnet18_cifar"]),
    ("resnet18_cifar, single, recompute", 1, 128, ["model=resnet18_cifar", "train.recompute=units"]),
    ("vgg11, single", 1, 256, ["model=vgg11"]),
    ("vit_b_32, single", 1, 16, VIT),
    ("vit_b_32, single, recompute", 1, 48, [*VIT, "train.recompute=units"]),
    ("vit_cifar, single, micro-batches", 1, 256, ["model=vit_cifar", "train.microbatches=4"]),
    ("resnet18_cifar, ddp", 2, 128, ["model=resnet18_cifar", "strategy=ddp"]),
    ("resnet18_cifar, ddp, recompute", 2, 256,
     ["model=resnet18_cifar", "strategy=ddp", "train.recompute=units"]),
    ("vgg11, all_reduce, adam", 2, 256, ["model=vgg11", "strategy=all_reduce", "optimizer=adam"]),
    ("vgg11, gather_scatter", 2, 128, ["model=vgg11", "strategy=gather_scatter"]),
    ("resnet18_cifar, ps_sync", 2, 64, ["model=resnet18_cifar", "strategy=ps_sync"]),
    ("vgg11, ps_async", 2, 64, ["model=vgg11", "strategy=ps_async"]),
]


def data_of(batch):
    return ["data=synthetic", "data.synthetic.channels=3", "data.synthetic.height=32",
            "data.synthetic.width=32", f"data.synthetic.train_count={4 * batch}",
            "data.synthetic.test_count=64"]


def train(folder, ranks, batch, settings):
    """The process's result, and the summary if it ended well."""
    command = [CONVOY, "train", "--quiet", "-n", str(ranks), *data_of(batch), *settings,
               f"train.batch_size={batch}", f"train.max_steps={8 if 'strategy=ps_async' in settings else 2}", "train.epochs=4",
               "cluster.threads=1" if ranks > 1 else "cluster.threads=2",
               f"run.dir={folder}", "run.name=measured", "run.report=false", "run.logbook=false"]
    if ranks == 1:
        command[3:5] = []
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    summary = pathlib.Path(folder) / "measured" / "summary.json"
    return result, json.loads(summary.read_text()) if result.returncode == 0 else None


def compare_plans(words):
    print("| case | ranks | batch | planned MB | measured MB | planned / measured |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, ranks, batch, settings in CASES:
        if words and not any(word in name for word in words):
            continue
        with tempfile.TemporaryDirectory() as folder:
            result, summary = train(folder, ranks, batch, settings)
        if summary is None:
            sys.exit(f"{name}: exit {result.returncode}\n{result.stderr}")
        planned, measured = summary["planned_memory"]["bytes"], summary["peak_rss_bytes"][0]
        print(f"| {name} | {ranks} | {batch} | {planned / 1e6:.0f} | {measured / 1e6:.0f} "
              f"| {planned / measured:.3f} |", flush=True)


def fitting(gib, recompute):
    command = [CONVOY, "fit", "--memory", f"{gib}GiB", "--ranks", "1", "--json", *VIT,
               *data_of(2000), "checkpoint.enabled=false", "cluster.threads=2"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["rows"]
    return next(row["batch_size"] for row in rows
                if row["strategy"] == "single" and row["recompute"] == recompute)


def torch_largest(python, gib):
    """By bisection: the version, and the largest batch whose process stays below the limit."""
    low, high, version = 8, 128, ""
    while high - low > 2:
        middle = (low + high) // 2
        version, used = torch_bytes(python, "vit_b_32", middle, "adam")
        print(f"  PyTorch {version}, batch {middle}: {used / 2**30:.2f} GiB", file=sys.stderr)
        low, high = (middle, high) if used <= gib * 2**30 else (low, middle)
    return version, low


def compare_limit(options):
    print("| | batch | measured MiB | 1.05 times as much |")
    print("| --- | ---: | ---: | --- |")
    for recompute in options.recompute:
        batch = fitting(options.gib, recompute)
        settings = [*VIT, f"train.recompute={recompute}", "checkpoint.enabled=false",
                    f"cluster.memory_gib={options.gib}", "train.max_steps=1"]
        with tempfile.TemporaryDirectory() as folder:
            result, summary = train(folder, 1, batch, settings)
            if summary is None:
                sys.exit(result.stderr)
            more, _ = train(folder, 1, int(batch * 1.05) + 1, settings)
        print(f"| convoy, recompute={recompute} | {batch} | {summary['peak_rss_bytes'][0] / 2**20:.0f} "
              f"| exit {more.returncode} |", flush=True)
    if options.python:
        version, batch = torch_largest(options.python, options.gib)
        print(f"| PyTorch {version}, eager | {batch} | | |", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("plan").add_argument("words", nargs="*")
    limit = commands.add_parser("limit")
    limit.add_argument("--gib", type=float, default=4)
    limit.add_argument("--python", help="an interpreter with PyTorch")
    limit.add_argument("--recompute", nargs="*", default=["none", "units"])
    return parser.parse_args()


def main():
    options = arguments()
    if options.command == "plan":
        compare_plans(options.words)
    else:
        compare_limit(options)


if __name__ == "__main__":
    main()
