#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Step time of convoy's strategies compared with PyTorch's, on 2 ranks of one thread, alternately.

  bench/compare_ranks.py [--models vgg11,lenet5] [--ways single,ddp,fsdp] [--batch 64] [--ranks 2]
                         [--rounds 5] [--python FILE] [--link RATE]

A round runs, for each way to train (single on one rank; gather_scatter, all_reduce, ddp and fsdp
on several), convoy, PyTorch over Gloo, and convoy again, whose time is the mean of its two.
Ratios are taken round by round; the table shows the median with the smallest and largest.
"beside ddp" is the strategy's time over that of convoy's ddp, in the same round. Batches are
generated; the batch is that of all ranks together. Settings of convoy follow after a plus:
fsdp+fsdp.prefetch=false, ddp+precision=amp_o2. Beside ddp+ddp.compress=fp16 (or bf16) PyTorch
compresses as well, by DistributedDataParallel's hook. A way that PyTorch cannot run, or has no
counterpart of, has a dash.

With --link the two ranks are on hosts of their own (network namespaces, which needs the right
to make them), joined by a cable of that rate: --link 1gbit.
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

from compare_step import CONVOY, ROOT, describe, given_words, machine_name, processor
from compare_strategies import hosts, on_host, run_on_hosts

WAYS = "single,gather_scatter,all_reduce,ddp,fsdp"
IMAGES = {"vgg11": (3, 32), "lenet5": (1, 28), "vit_cifar": (3, 32), "vit_b_32": (3, 224)}


def measure_convoy(model, way, batch, ranks, options):
    channels, size = IMAGES[model]
    strategy, *settings = way.split("+")
    with tempfile.TemporaryDirectory() as folder:
        command = [CONVOY, "train", f"model={model}", "data=synthetic",
                   f"data.synthetic.channels={channels}", f"data.synthetic.height={size}",
                   f"data.synthetic.width={size}", f"data.synthetic.train_count={8 * batch}",
                   "data.synthetic.test_count=16", f"strategy={strategy}",
                   f"train.batch_size={batch}", f"train.max_steps={options.steps}",
                   f"train.microbatches={options.ranks}", "train.epochs=1000000",
                   "cluster.threads=1", f"run.dir={folder}", "run.name=a",
                   "checkpoint.enabled=false", "run.report=false", "train.log_every=1",
                   *settings]
        if ranks > 1 and options.link:
            run_on_hosts(command, options.link)
        else:
            subprocess.run([*command, "-n", str(ranks)], check=True, stdout=subprocess.DEVNULL)
        return json.loads((pathlib.Path(folder) / "a" / "summary.json").read_text())


def measure_torch(model, way, batch, ranks, options):
    """Its times, or None if it cannot run that way."""
    linked = ranks > 1 and options.link
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                   "GLOO_SOCKET_IFNAME": "cable" if linked else "lo"}
    with tempfile.TemporaryDirectory() as folder, hosts(options.link if linked else None):
        store = "tcp://10.77.0.1:29617" if linked else f"file://{folder}/store"
        peers = [subprocess.Popen(
            [*(on_host(rank) if linked else []), options.python,
             ROOT / "bench" / "torch_ddp_peer.py", way, model, str(batch), str(rank), str(ranks),
             store, str(options.seconds)],
            stdout=subprocess.PIPE, text=True, env=environment) for rank in range(ranks)]
        answers = [peer.communicate()[0] for peer in peers]
        if any(peer.returncode for peer in peers):
            print(f"PyTorch failed: {way}, {model}", file=sys.stderr)
            return None
        return json.loads(answers[0])


def run_round(model, way, options):
    ranks = 1 if way == "single" else options.ranks
    torch_way = way.replace("+ddp.compress=", "_")  # ddp_fp16
    times, torch = [], None
    for number in range(2):
        times.append(measure_convoy(model, way, options.batch, ranks, options)["step_ms"]["p50"])
        if number == 0 and "+" not in torch_way:
            torch = measure_torch(model, torch_way, options.batch, ranks, options)
    return {"convoy": sum(times) / 2, "torch": torch and torch["p50"],
            "version": torch and torch["torch"]}


def rows(results, model, ways):
    for way in ways:
        rounds = results[model, way]
        cells = ["-", "-"]
        if all(r["torch"] for r in rounds):
            ratios = [r["torch"] / r["convoy"] for r in rounds]
            cells = [f"{statistics.median(r['torch'] for r in rounds):.2f}",
                     f"**{describe(ratios)}**"]
        beside = "-"
        if "ddp" in ways:
            beside = describe([r["convoy"] / d["convoy"]
                               for r, d in zip(rounds, results[model, "ddp"])])
        yield (f"| {model} | {way} | {statistics.median(r['convoy'] for r in rounds):.3f} "
               f"| {' | '.join(cells)} | {beside} |")


def report(options, results):
    models, ways = options.models.split(","), options.ways.split(",")
    version = subprocess.run([CONVOY, "--version"], capture_output=True, text=True).stdout
    torch = next(r["version"] for rounds in results.values() for r in rounds if r["version"])
    lines = [
        f"# Strategies: convoy beside PyTorch {torch}", "",
        f"{datetime.date.today()}, {processor()}, {version.splitlines()[0]}, by `script/bench "
        f"ranks {given_words()}`.", "",
        f"Milliseconds a step, medians of {options.rounds} rounds; batch {options.batch} over all",
        f"ranks, {options.ranks} ranks of one thread (single: one rank of one thread)"
        + (f" on hosts of their own, joined by a cable of {options.link}." if options.link else "."),
        "Ratios are PyTorch's time over convoy's, the last column is convoy's time over that of its",
        "ddp, round by round: median (smallest..largest).", "",
        "| model | strategy | convoy ms | PyTorch ms | ratio | beside ddp |",
        "| --- | --- | ---: | ---: | ---: | ---: |"]
    for model in models:
        lines += rows(results, model, ways)
    return "\n".join(lines) + "\n"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", default="vgg11,lenet5")
    parser.add_argument("--ways", default=WAYS)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40, help="of each measurement of convoy")
    parser.add_argument("--seconds", type=float, default=5, help="of each of PyTorch")
    parser.add_argument("--python", default="/usr/bin/python3", help="an interpreter with PyTorch")
    parser.add_argument("--link", help="rate of the cable between two hosts, such as 1gbit")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the result (bench/results)")
    return parser.parse_args()


def main():
    options = parse_arguments()
    cases = [(model, way) for model in options.models.split(",") for way in options.ways.split(",")]
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
    kind = f"ranks_{options.link}" if options.link else "ranks"
    (folder / f"{kind}_{machine_name()}_{datetime.date.today()}.md").write_text(text)


if __name__ == "__main__":
    main()
