#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Planned memory of training processes compared with what the kernel measured, and the largest batch
within a limit beside PyTorch's.

  bench/memory_plan.py plan [CASE ...]             fifteen combinations, or those whose name has a word
  bench/memory_plan.py limit [--gib 4] [--python FILE] [--recompute none units]

`plan` trains two steps (eight with ps_async, so that every worker has pushed), evaluates and
saves; planned is planned_memory of summary.json, measured its peak_rss_bytes, both of the first
rank. `limit` asks `convoy fit` for the largest batch of vit_b_32 with adam, trains a step with
it, sees 1.05 times as much refused, and finds PyTorch's largest batch by bisection. Where a
control group of memory can be made, all of them run in one: convoy finds the limit by itself, and
a batch is too large for PyTorch if the kernel kills it. Elsewhere cluster.memory_gib says it, and
PyTorch's process has to stay below.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from compare_memory import ROOT, TORCH_STEPS

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
    ("vgg11, fsdp, adam", 2, 128, ["model=vgg11", "strategy=fsdp", "optimizer=adam"]),
    ("vit_b_32, fsdp, recompute", 2, 32, [*VIT, "strategy=fsdp", "train.recompute=units"]),
    ("resnet18_cifar, fsdp of the optimizer's state", 2, 64,
     ["model=resnet18_cifar", "strategy=fsdp", "fsdp.shard=optimizer"]),
    ("vgg11, ps_async", 2, 64, ["model=vgg11", "strategy=ps_async"]),
]


class Limit:
    """A control group with a limit of memory, or None if it cannot be made."""

    def __init__(self, gib):
        self.bytes = int(gib * 2**30)
        self.group = None
        for root, name in ((pathlib.Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
                           (pathlib.Path("/sys/fs/cgroup"), "memory.max")):
            group = root / f"convoy-bench-{os.getpid()}"
            try:
                group.mkdir()
            except OSError:
                continue
            if (group / name).exists():
                (group / name).write_text(str(self.bytes))
                self.group = group
                return
            group.rmdir()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.group:
            self.group.rmdir()

    def run(self, command, **options):
        """Runs a command within the limit."""
        if self.group:
            command = ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', self.group, *command]
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def data_of(batch):
    return ["data=synthetic", "data.synthetic.channels=3", "data.synthetic.height=32",
            "data.synthetic.width=32", f"data.synthetic.train_count={4 * batch}",
            "data.synthetic.test_count=64"]


def run_plainly(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def train(folder, ranks, batch, settings, run=run_plainly):
    """The process's result, and the summary if it ended well."""
    command = [CONVOY, "train", "--quiet", "-n", str(ranks), *data_of(batch),
               f"train.batch_size={batch}", "train.epochs=4",
               f"train.max_steps={8 if 'strategy=ps_async' in settings else 2}", *settings,
               "cluster.threads=1" if ranks > 1 else "cluster.threads=2",
               f"run.dir={folder}", "run.name=measured", "run.report=false", "run.logbook=false"]
    if ranks == 1:
        command[3:5] = []
    result = run(command)
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


def fitting(limit, recompute):
    command = [CONVOY, "fit", "--ranks", "1", "--json", *VIT, *data_of(2000),
               "checkpoint.enabled=false", "cluster.threads=2"]
    if not limit.group:
        command += ["--memory", f"{limit.bytes / 2**30}GiB"]
    result = limit.run(command)
    if result.returncode:
        sys.exit(result.stderr)
    return next(row["batch_size"] for row in json.loads(result.stdout)["rows"]
                if row["strategy"] == "single" and row["recompute"] == recompute)


def torch_fits(python, batch, limit):
    command = [python, "-c", TORCH_STEPS, "vit_b_32", str(batch), "adam"]
    result = limit.run(command, cwd=ROOT)
    used = int(result.stdout.split()[1]) if result.returncode == 0 else None
    print(f"  PyTorch, batch {batch}: " + (f"{used / 2**30:.2f} GiB" if used else "killed"),
          file=sys.stderr, flush=True)
    return used is not None and used <= limit.bytes


def torch_largest(python, limit):
    """By bisection, to within 2."""
    low, high = 8, 128
    while high - low > 2:
        middle = (low + high) // 2
        low, high = (middle, high) if torch_fits(python, middle, limit) else (low, middle)
    return low


def compare_limit(options, limit):
    print("in a control group" if limit.group else "without a control group")
    print("\n| | batch | measured MiB | 1.05 times as much |")
    print("| --- | ---: | ---: | --- |")
    for recompute in options.recompute:
        batch = fitting(limit, recompute)
        settings = [*VIT, f"train.recompute={recompute}", "checkpoint.enabled=false",
                    "train.max_steps=1"]
        if not limit.group:
            settings += [f"cluster.memory_gib={options.gib}"]
        with tempfile.TemporaryDirectory() as folder:
            result, summary = train(folder, 1, batch, settings, limit.run)
            if summary is None:
                sys.exit(f"exit {result.returncode}: {result.stderr}")
            more, _ = train(folder, 1, int(batch * 1.05) + 1, settings, limit.run)
        print(f"| convoy, recompute={recompute} | {batch} "
              f"| {summary['peak_rss_bytes'][0] / 2**20:.0f} | exit {more.returncode} |", flush=True)
    if options.python:
        print(f"| PyTorch of {options.python}, eager | {torch_largest(options.python, limit)} "
              "| | |", flush=True)


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
        with Limit(options.gib) as limit:
            compare_limit(options, limit)


if __name__ == "__main__":
    main()
