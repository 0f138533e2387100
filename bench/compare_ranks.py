#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Step time of convoy's strategies compared with PyTorch's, on 2 ranks of one thread, alternately.

  bench/compare_ranks.py [--models vgg11,lenet5] [--batch 64] [--ranks 2] [--rounds 5]

A round runs, for each way to train (single on one rank; gather_scatter, all_reduce and ddp on
several), convoy, PyTorch over Gloo, and convoy again, whose time is the mean of its two.
Ratios are taken round by round; the table shows the median with the smallest and largest.
"scaling" is convoy's single over that strategy, in the same round. Batches are generated; the
batch is that of all ranks together.
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

from compare_step import CONVOY, ROOT, describe, machine_name, processor

WAYS = ("single", "gather_scatter", "all_reduce", "ddp")
IMAGES = {"vgg11": (3, 32), "lenet5": (1, 28)}


def measure_convoy(model, way, batch, ranks, steps):
    channels, size = IMAGES[model]
    with tempfile.TemporaryDirectory() as folder:
        command = [CONVOY, "train", f"model={model}", "data=synthetic",
                   f"data.synthetic.channels={channels}", f"data.synthetic.height={size}",
                   f"data.synthetic.width={size}", "data.synthetic.train_count=2048",
                   "data.synthetic.test_count=16", f"strategy={way}",
                   f"train.batch_size={batch}", f"train.max_steps={steps}",
                   "train.epochs=1000000", "cluster.threads=1", f"run.dir={folder}",
                   "run.name=a"]
        if ranks > 1:
            command += ["-n", str(ranks)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads((pathlib.Path(folder) / "a" / "summary.json").read_text())


def measure_torch(model, way, batch, ranks, seconds):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                   "GLOO_SOCKET_IFNAME": "lo"}
    with tempfile.TemporaryDirectory() as folder:
        peers = [subprocess.Popen(
            ["/usr/bin/python3", ROOT / "bench" / "torch_ddp_peer.py", way, model, str(batch),
             str(rank), str(ranks), f"{folder}/store", str(seconds)],
            stdout=subprocess.PIPE, text=True, env=environment) for rank in range(ranks)]
        answers = [peer.communicate()[0] for peer in peers]
        if any(peer.returncode for peer in peers):
            sys.exit(f"PyTorch failed: {way}, {model}")
        return json.loads(answers[0])


def run_round(model, way, options):
    ranks = 1 if way == "single" else options.ranks
    first, second = [], []
    for times in (first, second):
        times.append(measure_convoy(model, way, options.batch, ranks,
                                    options.steps)["step_ms"]["p50"])
        if times is first:
            torch = measure_torch(model, way, options.batch, ranks, options.seconds)
    return {"convoy": (first[0] + second[0]) / 2, "torch": torch["p50"],
            "version": torch["torch"]}


def rows(results, model):
    single = results[model, "single"]
    for way in WAYS:
        rounds = results[model, way]
        ratios = [r["torch"] / r["convoy"] for r in rounds]
        scaling = [s["convoy"] / r["convoy"] for s, r in zip(single, rounds)]
        yield (f"| {model} | {way} | {statistics.median(r['convoy'] for r in rounds):.3f} "
               f"| {statistics.median(r['torch'] for r in rounds):.2f} "
               f"| **{describe(ratios)}** | {describe(scaling)} |")


def report(options, results):
    models = options.models.split(",")
    version = subprocess.run([CONVOY, "--version"], capture_output=True, text=True).stdout
    torch = results[models[0], "single"][0]["version"]
    lines = [
        f"# Strategies: convoy beside PyTorch {torch}", "",
        f"{datetime.date.today()}, {processor()}, {version.splitlines()[0]}, by `script/bench "
        f"ranks {' '.join(sys.argv[1:])}`.", "",
        f"Milliseconds a step, medians of {options.rounds} rounds; batch {options.batch} over all",
        f"ranks, {options.ranks} ranks of one thread (single: one rank of one thread). Ratios are",
        "PyTorch's time over convoy's, scaling is convoy's single over the strategy, round by",
        "round: median (smallest..largest).", "",
        "| model | strategy | convoy ms | PyTorch ms | ratio | scaling |",
        "| --- | --- | ---: | ---: | ---: | ---: |"]
    for model in models:
        lines += rows(results, model)
    return "\n".join(lines) + "\n"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", default="vgg11,lenet5")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40, help="of each measurement of convoy")
    parser.add_argument("--seconds", type=float, default=5, help="of each of PyTorch")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the result (bench/results)")
    return parser.parse_args()


def main():
    options = parse_arguments()
    cases = [(model, way) for model in options.models.split(",") for way in WAYS]
    results = {case: [] for case in cases}
    for number in range(options.rounds):
        for case in cases:
            results[case].append(run_round(*case, options))
            print(f"round {number + 1}/{options.rounds} {case}: {results[case][-1]}",
                  file=sys.stderr)
    text = report(options, results)
    print(text)
    folder = options.out or ROOT / "bench" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"ranks_{machine_name()}_{datetime.date.today()}.md").write_text(text)


if __name__ == "__main__":
    main()
