#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Predicted step times compared with measured ones.

  bench/compare_predict.py [--models NAMES] [--ranks NUMBERS] [--link RATE]
                           [--rounds N] [--seconds S] [--output FILE]

For each model and number of ranks of this machine: a profile is measured, and from it the
step of each strategy predicted (convoy simulate --predict); then each strategy trains for a
while, and the median of its steps is taken from summary.json. Rounds repeat both, in turns,
so that what slows the machine down meets both; a row has the median over the rounds of each,
and of their ratio. With --link also two ranks on hosts of their own (network namespaces,
which needs the right to make them), joined by a cable of that rate, such as 1gbit.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from compare_strategies import run_on_hosts

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONVOY = ROOT / "build" / "convoy"
STRATEGIES = ("gather_scatter", "all_reduce", "ddp")
BATCH = 64
# Generated images of each model's usual shape, so that no dataset is needed.
IMAGES = {"lenet5": (1, 28), "cnn1": (1, 28), "vgg11": (3, 32)}
LINK_LATENCY_US = 30  # not measured: about what a pair of namespaces takes


def settings_of(model):
    channels, side = IMAGES[model]
    return [f"model={model}", "data=synthetic", f"data.synthetic.channels={channels}",
            f"data.synthetic.height={side}", f"data.synthetic.width={side}",
            "data.synthetic.train_count=6400", "data.synthetic.test_count=64",
            f"train.batch_size={BATCH}", "train.augment=none"]


def predicted(model, ranks, options, link):
    """Milliseconds of a step by strategy."""
    command = [CONVOY, "simulate", "--predict", *settings_of(model), "--json",
               "--seconds", str(options.seconds)]
    if link:
        gigabits = float(link.removesuffix("gbit"))
        command += ["--nodes", "2", "--at-once", "2", "cluster.threads=1", "cluster.pin=false",
                    f"sim.bandwidth_gbps={gigabits}", f"sim.latency_us={LINK_LATENCY_US}"]
    else:
        command += ["--nodes", "1", f"cluster.nproc_per_node={ranks}"]
    found = json.loads(subprocess.run(command, check=True, cwd=ROOT, capture_output=True,
                                      text=True).stdout)
    return {row["strategy"]: row["step_ms"] for row in found["rows"]}


def measured(model, strategy, ranks, steps, link):
    """The median step of a run, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        command = [CONVOY, "train", *settings_of(model), f"strategy={strategy}",
                   f"train.max_steps={steps}", "train.epochs=1000", "run.tensorboard=false",
                   f"run.dir={folder}", "run.name=run"]
        if link:
            run_on_hosts([*command, "cluster.threads=1", "cluster.pin=false"], link)
        else:
            subprocess.run([*command, "-n", str(ranks)], check=True, cwd=ROOT,
                           stdout=subprocess.DEVNULL)
        summary = json.loads((pathlib.Path(folder) / "run" / "summary.json").read_text())
        return summary["step_ms"]["p50"]


def compare(model, ranks, options, link=None):
    """Rows of one model on that many ranks."""
    strategies = ("single",) if ranks == 1 else STRATEGIES
    pairs = {name: [] for name in strategies}
    for _ in range(options.rounds):
        forecast = predicted(model, ranks, options, link)
        for name in strategies:
            steps = max(12, min(400, int(options.seconds * 1000 / forecast[name])))
            pairs[name].append((forecast[name], measured(model, name, ranks, steps, link)))
            print(model, ranks, link or "", name, pairs[name][-1], file=sys.stderr, flush=True)
    return [row(model, ranks, name, found, link) for name, found in pairs.items()]


def row(model, ranks, strategy, pairs, link):
    guess = statistics.median(pair[0] for pair in pairs)
    real = statistics.median(pair[1] for pair in pairs)
    error = 100 * (statistics.median(pair[0] / pair[1] for pair in pairs) - 1)
    where = f"2 hosts, {link}" if link else "one machine"
    return (f"| {model} | {ranks} | {where} | {strategy} | {guess:.3f} | {real:.3f} "
            f"| {error:+.1f} % |", abs(error))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="lenet5,cnn1,vgg11")
    parser.add_argument("--ranks", default="1,2,3,4")
    parser.add_argument("--link", help="rate of the cable between two hosts, such as 1gbit")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2, help="of each measurement")
    parser.add_argument("--output", help="a file for the table")
    options = parser.parse_args()
    rows = []
    for model in options.models.split(","):
        for ranks in [int(number) for number in options.ranks.split(",") if number]:
            rows += compare(model, ranks, options)
        if options.link:
            rows += compare(model, 2, options, options.link)
    within = sum(error <= 15 for _, error in rows)
    table = ["| model | ranks | where | strategy | predicted ms | measured ms | error |",
             "| --- | ---: | --- | --- | ---: | ---: | ---: |", *(text for text, _ in rows), "",
             f"{within} of {len(rows)} within 15 %."]
    print("\n".join(table))
    if options.output:
        pathlib.Path(options.output).write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
