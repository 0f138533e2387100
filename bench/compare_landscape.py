#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Time of a loss landscape by `convoy landscape`, compared with PyTorch, in one session.

  bench/compare_landscape.py [--grid 25] [--rounds 3] [--threads 2] [--python FILE] [--quick]

LeNet-5 on the 10,000 test images of Fashion-MNIST. convoy's time is that of the whole
command: it starts, reads the saves and the data, finds the plane, evaluates the grid and all
saves, and draws. PyTorch is measured at a few points and its time multiplied by the number of
points that convoy evaluated; starting and reading are left out. It does it in two ways: as
the async project does, with a DataLoader and a transform per sample at every point, and with
the normalised test set in memory. Rounds alternate; ratios are taken round by round, and the
table has the median with the smallest and largest. CPU time says more than the clock where other
programs run; threads that spin while they wait count in it.
"""

import argparse
import datetime
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from compare_step import CONVOY, ROOT, processor
from torch_versions import DEBIAN_PYTHON, newer_python

PEER = ROOT / "bench" / "torch_landscape.py"


def run(command, threads):
    # torch.set_num_threads alone does not reach OpenBLAS.
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads),
                   "OPENBLAS_NUM_THREADS": str(threads)}
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                         env=environment)
    if ran.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def train(folder, options):
    run([CONVOY, "train", "--quiet", "experiment=fashion_lenet5", "train.epochs=1",
         "checkpoint.saves_per_epoch=3", f"run.dir={folder}", "run.name=a",
         f"cluster.threads={options.threads}"], options.threads)
    return folder / "a"


def measure_convoy(run_folder, options):
    began = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run([CONVOY, "landscape", run_folder, "--grid", options.grid,
         f"cluster.threads={options.threads}"], options.threads)
    seconds = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    result = json.loads((run_folder / "landscape.json").read_text())
    saves = result["runs"][0]["saves"]
    return {"seconds": seconds, "cpu": used, "points": options.grid ** 2 + len(saves),
            "loss": saves[-1]["loss"]}


def measure_torch(python, run_folder, per_sample, options):
    points = options.slow_points if per_sample else options.points
    command = [python, PEER, run_folder, "--points", points, "--threads", options.threads]
    return json.loads(run(command + ["--per-sample"] * per_sample, options.threads))


def pythons(options):
    if options.python:
        return [options.python]
    return [python for python in (DEBIAN_PYTHON, newer_python()) if python.exists()]


def spread(values, digits=1):
    return (f"{statistics.median(values):.{digits}f} "
            f"({min(values):.{digits}f} to {max(values):.{digits}f})")


def check_loss(ours, theirs):
    if abs(ours - theirs) > 1e-5:
        sys.exit(f"the last save's loss is {ours} here and {theirs} in PyTorch")


def measure_round(run_folder, options):
    """convoy's result, and by PyTorch and way seconds for as many points."""
    ours = measure_convoy(run_folder, options)
    theirs = {}
    for python in pythons(options):
        for per_sample in (True, False):
            found = measure_torch(python, run_folder, per_sample, options)
            check_loss(ours["loss"], found["loss"])
            way = "a DataLoader, sample by sample" if per_sample else "tensors in memory"
            who = f"PyTorch {found['torch'].split('+')[0]}, {way}"
            theirs[who] = {"seconds": found["seconds"] * ours["points"],
                           "cpu": found["cpu"] * ours["points"]}
    return ours, theirs


def row(who, found, ours):
    cells = [who]
    for what in ("seconds", "cpu"):
        cells.append(spread([one[what] for one in found]))
        cells.append(spread([one[what] / own[what] for one, own in zip(found, ours)]))
    return f"| {' | '.join(cells)} |"


def report(rounds, options):
    ours = [one for one, _ in rounds]
    yield f"# Loss landscape of LeNet-5, {options.grid} x {options.grid} points, 10,000 images"
    yield (f"\n{datetime.date.today()}, {processor()}, by `bench/compare_landscape.py --grid "
           f"{options.grid} --rounds {options.rounds} --threads {options.threads}`; load average "
           f"{os.getloadavg()[0]:.1f} at the end. {ours[0]['points']} points with the saves.\n")
    yield "| who | seconds | times convoy's | CPU seconds | times convoy's |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    yield row("convoy landscape", ours, ours)
    for who in rounds[0][1]:
        yield row(who, [theirs[who] for _, theirs in rounds], ours)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--grid", type=int, default=25)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--points", type=int, default=10, help="of PyTorch, tensors in memory")
    parser.add_argument("--slow-points", type=int, default=2, help="of PyTorch, a DataLoader")
    parser.add_argument("--python", type=pathlib.Path, help="whose PyTorch to compare with")
    parser.add_argument("--quick", action="store_true", help="a small grid, one round")
    parser.add_argument("--out", type=pathlib.Path, help="file for the table")
    options = parser.parse_args()
    if options.quick:
        options.grid, options.rounds, options.points, options.slow_points = 9, 1, 4, 1
    return options


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as name:
        run_folder = train(pathlib.Path(name), options)
        rounds = [measure_round(run_folder, options) for _ in range(options.rounds)]
    text = "\n".join(report(rounds, options))
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
