#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Test accuracy of an experiment, trained by convoy and by PyTorch.

  bench/compare_accuracy.py [--experiment cifar10_resnet18] [--fraction 1] [--seeds 1]
                            [--epochs 0] [--python FILE]

Both train on the same files with the same settings, but draw their own first weights, samples
and order, so one seed's difference says little. For experiments that torch_training.py knows.
With --fraction 0.05 both see that part of the training set, with --epochs 2 both train that
long: the whole takes PyTorch hours.
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

from async_study import percent
from compare_step import CONVOY, ROOT, processor


def run(command, threads):
    # torch.set_num_threads alone does not reach OpenBLAS.
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    if ran.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{ran.stderr}")
    return ran.stdout


def train_convoy(folder, seed, options):
    data = [f"data.root={options.data}"] if options.data else []
    data += [f"train.epochs={options.epochs}"] if options.epochs else []
    run([CONVOY, "train", "--quiet", f"experiment={options.experiment}", f"train.seed={seed}",
         f"data.train_fraction={options.fraction}", f"cluster.threads={options.threads}",
         f"run.dir={folder}", f"run.name={seed}", *data], str(options.threads))
    summary = json.loads((folder / str(seed) / "summary.json").read_text())
    return {"seconds": summary["seconds"]["training"], "accuracy": summary["test"]["accuracy"]}


def train_torch(folder, seed, options):
    data = ["--data", options.data] if options.data else []
    return json.loads(run([options.python, ROOT / "bench" / "torch_training.py",
                           folder / str(seed) / "config.yaml", *data,
                           "--threads", str(options.threads)], str(options.threads)))


def row(who, runs):
    seconds = statistics.fmean(one["seconds"] for one in runs)
    each = ", ".join(f"{100 * one['accuracy']:.2f}" for one in runs)
    return f"| {who} | {percent([one['accuracy'] for one in runs])} | {seconds:.0f} | {each} |"


def report(ours, theirs, options):
    yield f"# Accuracy of {options.experiment}: convoy beside PyTorch {theirs[0]['torch']}"
    yield (f"\n{datetime.date.today()}, {processor()}, by `bench/compare_accuracy.py --experiment "
           f"{options.experiment} --fraction {options.fraction} --seeds {options.seeds} "
           f"--epochs {options.epochs}`: {options.fraction:.0%} of the training set, {options.threads} threads.\n")
    yield "| who | test accuracy % | seconds of training | each seed |"
    yield "| --- | ---: | ---: | --- |"
    yield row("convoy", ours)
    yield row("PyTorch", theirs)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--experiment", default="cifar10_resnet18")
    parser.add_argument("--fraction", type=float, default=1, help="of the training set")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=0, help="0: as the experiment says")
    parser.add_argument("--python", default="/usr/bin/python3", help="the interpreter of PyTorch")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", type=pathlib.Path, help="folder of train.convoy")
    parser.add_argument("--out", type=pathlib.Path, help="file for the table")
    return parser.parse_args()


def main():
    options = arguments()
    seeds = range(1, options.seeds + 1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ours = [train_convoy(folder, seed, options) for seed in seeds]
        theirs = [train_torch(folder, seed, options) for seed in seeds]
    text = "\n".join(report(ours, theirs, options))
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
