#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Updates per second of convoy's asynchronous parameter server, compared with PyTorch's over RPC.

  bench/compare_ps.py [--workers 2] [--batch 32] [--steps 8000] [--rounds 5]

LeNet-5, SGD with momentum, every process with one thread, no delays. A round runs convoy,
PyTorch in each of its forms (torch_rpc_ps.py: a list of tensors or a flat one, over shared
memory or TCP), of which the fastest counts, and convoy again, whose speed is the mean of its
two. FMA probes before, between and after frame a round.

The rule for discarding rounds, fixed beforehand, is that of compare_step.py: a round counts
only if its lowest probe reaches 85 % of the highest of this whole run. Ratios are taken round
by round; the table shows medians with the smallest and largest.
"""

import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from compare_step import CONVOY, KEEP, ROOT, describe, machine_name, measure_convoy, processor

FORMS = [(form, transport) for transport in ("tcp", "usual") for form in ("model", "list", "flat")]
PROBE_SECONDS = 0.2


def probes(options):
    found = measure_convoy("lenet5", options.batch, 1, PROBE_SECONDS)
    return [found["probe_gflops_before"], found["probe_gflops_after"]]


def measure_server(options):
    with tempfile.TemporaryDirectory() as folder:
        command = [CONVOY, "train", "--quiet", "strategy=ps_async", "-n", str(options.workers),
                   "model=lenet5", f"data={options.data}", f"train.batch_size={options.batch}",
                   "optimizer.lr=0.005", "optimizer.momentum=0.9", "train.epochs=100000",
                   f"train.max_steps={options.steps}", "cluster.threads=1",
                   f"run.dir={folder}", "run.name=a"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        summary = json.loads((pathlib.Path(folder) / "a" / "summary.json").read_text())
        return summary["steps"] / summary["seconds"]["training"]


def measure_torch(form, transport, options):
    command = ["/usr/bin/python3", ROOT / "bench" / "torch_rpc_ps.py", "--form", form,
               "--transport", transport, "--workers", str(options.workers), "--batch",
               str(options.batch), "--seconds", str(options.seconds)]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"PyTorch failed: {form}, {transport}\n{ran.stderr}")
    return json.loads(ran.stdout.splitlines()[-1])


def run_round(options):
    found = {"probes": probes(options)}
    first = measure_server(options)
    answers = {pair: measure_torch(*pair, options) for pair in FORMS}
    found["probes"] += probes(options)
    second = measure_server(options)
    found["probes"] += probes(options)
    speeds = {pair: answer["updates_per_second"] for pair, answer in answers.items()}
    return {**found, "convoy": (first + second) / 2, "torch": speeds,
            "fastest": max(speeds.values()), "version": answers[FORMS[0]]["torch"]}


def rows(kept):
    convoy = [r["convoy"] for r in kept]
    yield f"| convoy | {describe(convoy)} | |"
    for form, transport in FORMS:
        speeds = [r["torch"][form, transport] for r in kept]
        ratios = [ours / theirs for ours, theirs in zip(convoy, speeds)]
        yield f"| PyTorch, {form}, {transport} | {describe(speeds)} | {describe(ratios)} |"
    fastest = [r["fastest"] for r in kept]
    yield (f"| PyTorch, the fastest of a round | {describe(fastest)} "
           f"| **{describe([r['convoy'] / r['fastest'] for r in kept])}** |")


def report(options, rounds):
    best = max(probe for r in rounds for probe in r["probes"])
    kept = [r for r in rounds if min(r["probes"]) >= KEEP * best]
    version = subprocess.run([CONVOY, "--version"], capture_output=True, text=True).stdout
    lines = [
        f"# Asynchronous parameter server: convoy beside PyTorch {rounds[0]['version']} over RPC", "",
        f"{datetime.date.today()}, {processor()}, {version.splitlines()[0]}, by "
        f"`bench/compare_ps.py {' '.join(sys.argv[1:])}`.", "",
        f"Updates a second, LeNet-5, batch {options.batch}, {options.workers} workers and a server of one",
        "thread each. Ratios are convoy's speed over PyTorch's, round by round: median",
        f"(smallest..largest) of {len(kept)} of {len(rounds)} rounds; one is kept if its lowest FMA probe",
        f"is at least {KEEP:.0%} of the highest, {best:.0f} GFLOP/s.", "",
        "| who | updates a second | ratio |", "| --- | ---: | ---: |"]
    lines += rows(kept) if kept else ["| no round was kept | | |"]
    return "\n".join(lines) + "\n"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--data", default="fashion_mnist", help="of convoy; PyTorch uses generated images")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=8000, help="of each measurement of convoy")
    parser.add_argument("--seconds", type=float, default=5, help="of each of PyTorch")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the result (bench/results)")
    return parser.parse_args()


def main():
    options = parse_arguments()
    rounds = []
    for number in range(options.rounds):
        rounds.append(run_round(options))
        print(f"round {number + 1}/{options.rounds}: convoy {rounds[-1]['convoy']:.0f}, PyTorch "
              + ", ".join(f"{'/'.join(pair)} {speed:.0f}"
                          for pair, speed in rounds[-1]["torch"].items())
              + f", probes {min(rounds[-1]['probes']):.0f}", file=sys.stderr)
    text = report(options, rounds)
    print(text)
    folder = options.out or ROOT / "bench" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"ps_{machine_name()}_{datetime.date.today()}.md").write_text(text)


if __name__ == "__main__":
    main()
