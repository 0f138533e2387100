#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Time of a cross-validation by `convoy kfold`, compared with PyTorch, in one session.

  bench/compare_kfold.py [--batches 32,64,128] [--epochs 1] [--rounds 3] [--python FILE]

A part of the grid kfold_fashion_sgd: LeNet-5 on Fashion-MNIST, rate 0.005, momentum 0.9, and
four of the five folds. convoy's time is that of the whole command: it starts, reads the data,
measures how many runs at a time are fastest, trains, evaluates and writes. PyTorch's is of
training and scoring alone, in three ways: as the async project does, one process with a
DataLoader and a transform per sample; with tensors in memory, one process on two threads; and
the same as two processes of one thread, two folds each. That runs which differ in epochs alone
are one run to convoy is not counted. Rounds alternate; ratios are taken round by round, and
the table has the median with the smallest and largest.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from compare_landscape import pythons, row
from compare_step import CONVOY, ROOT, processor

PEER = ROOT / "bench" / "torch_kfold.py"
# What `convoy kfold` sets for every fold, which here is a dimension of its own.
FOLD = ["experiment=fashion_lenet5", "optimizer.lr=0.005", "optimizer.momentum=0.9",
        "data.folds=5", "data.fold=0,1,2,3", "checkpoint.enabled=false", "run.tensorboard=false",
        "run.resources=false"]
WAYS = {"a DataLoader, sample by sample": (["0,1,2,3"], 2, ["--per-sample"]),
        "tensors in memory, 2 threads": (["0,1,2,3"], 2, []),
        "tensors in memory, 2 processes": (["0,1", "2,3"], 1, [])}


def started(command, threads):
    # torch.set_num_threads alone does not reach OpenBLAS.
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads),
                   "OPENBLAS_NUM_THREADS": str(threads)}
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True,
                            env=environment)


def output_of(process):
    text = process.communicate()[0]
    if process.returncode:
        sys.exit(f"{' '.join(process.args)}: exit {process.returncode}")
    return text


def measure_convoy(batch, options):
    with tempfile.TemporaryDirectory() as folder:
        began, cpu = time.perf_counter(), os.times().children_user
        output_of(started([CONVOY, "sweep", *FOLD, f"train.batch_size={batch}",
                           f"train.epochs={options.epochs}", f"run.dir={folder}", "run.name=a",
                           "--score", "loss", "--json"], 2))
        result = json.loads((pathlib.Path(folder) / "a" / "sweep.json").read_text())
    return {"seconds": time.perf_counter() - began, "cpu": os.times().children_user - cpu,
            "losses": [row["val"]["loss"] for row in result["rows"]]}


def measure_torch(python, way, batch, options):
    parts, threads, more = WAYS[way]
    processes = [started([python, PEER, "--folds", part, "--batch", batch, "--epochs",
                          options.epochs, "--threads", threads, *more], threads)
                 for part in parts]
    found = [json.loads(output_of(process)) for process in processes]
    return {"torch": found[0]["torch"].split("+")[0],
            "seconds": max(one["seconds"] for one in found),
            "cpu": sum(one["cpu"] for one in found),
            "losses": [loss for one in found for loss in one["losses"]]}


def measure_round(batch, options):
    ours = measure_convoy(batch, options)
    theirs = {}
    for python in pythons(options):
        for way in WAYS:
            found = measure_torch(python, way, batch, options)
            theirs[f"PyTorch {found['torch']}, {way}"] = found
    return ours, theirs


def loss_of(rounds):
    return statistics.fmean(loss for one in rounds for loss in one["losses"])


def report(batch, rounds, options):
    ours = [one for one, _ in rounds]
    yield f"\n## Batch {batch}\n"
    yield "| who | seconds | times convoy's | CPU seconds | times convoy's | mean loss |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    yield f"{row('convoy kfold', ours, ours)} {loss_of(ours):.4f} |"
    for who in rounds[0][1]:
        found = [theirs[who] for _, theirs in rounds]
        yield f"{row(who, found, ours)} {loss_of(found):.4f} |"


def heading(options):
    return (f"# Cross-validation of LeNet-5 on Fashion-MNIST, {options.epochs} epochs, four of "
            f"five folds\n\n{datetime.date.today()}, {processor()}, by `bench/compare_kfold.py --batches "
            f"{options.batches} --epochs {options.epochs} --rounds {options.rounds}`; load average "
            f"{os.getloadavg()[0]:.1f} at the end.")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--batches", default="32,64,128")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", type=pathlib.Path, help="whose PyTorch to compare with")
    parser.add_argument("--out", type=pathlib.Path, help="file for the table")
    return parser.parse_args()


def main():
    options = arguments()
    lines = []
    for batch in map(int, options.batches.split(",")):
        rounds = [measure_round(batch, options) for _ in range(options.rounds)]
        lines += report(batch, rounds, options)
    text = "\n".join([heading(options), *lines])
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
