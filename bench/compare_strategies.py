#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds a step of `single` and of each strategy on several ranks.

  bench/compare_strategies.py [RANKS] [setting=value ...]

A rank has its share of this machine's cores, and `single` has what a rank has, as if ranks
were machines; `cluster.threads=N` says otherwise. Each runs the experiment vgg11_NAME: 40 steps, of which the first is left out of the mean.
All four have the same lanes, so their losses must be the same; if not, that is said.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONVOY = ROOT / "build" / "convoy"
STRATEGIES = ("gather_scatter", "all_reduce", "ddp")


def run(name, ranks, settings, folder):
    """Trains and returns the run's summary and its losses."""
    experiment = "vgg11_ddp" if name == "single" else f"vgg11_{name}"
    command = [CONVOY, "train", f"experiment={experiment}", f"strategy={name}",
               f"run.dir={folder}", f"run.name={name}", *settings]
    if ranks > 1:
        command += ["-n", str(ranks)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    where = pathlib.Path(folder) / name
    records = [json.loads(line) for line in (where / "metrics.jsonl").read_text().splitlines()]
    losses = [record["loss"] for record in records if record["kind"] == "step"]
    return json.loads((where / "summary.json").read_text()), losses


def row(name, summary, single_seconds):
    seconds = summary["step_ms"]["mean"] / 1e3
    exposed = summary["seconds"]["exposed_communication"] / summary["steps"]
    megabytes = max(rank["bytes_sent"] for rank in summary["communication"]) / 1e6
    return (f"| {name} | {summary['ranks']} | {summary['threads']} | {seconds:.4f} "
            f"| {single_seconds / seconds:.2f} | {exposed:.4f} "
            f"| {megabytes / summary['steps']:.1f} |")


def main():
    arguments = sys.argv[1:]
    ranks = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else 2
    threads = max(1, len(os.sched_getaffinity(0)) // ranks)
    settings = [f"cluster.threads={threads}", *arguments]
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("single", *STRATEGIES):
            results[name] = run(name, 1 if name == "single" else ranks, settings, folder)
            print(f"{name}: {results[name][0]['step_ms']}", file=sys.stderr)
    single = results["single"][0]["step_ms"]["mean"] / 1e3
    print("| strategy | ranks | threads a rank | seconds a step | speed-up "
          "| exposed s a step | MB sent a step, at most |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, (summary, _) in results.items():
        print(row(name, summary, single))
    losses = {name: found for name, (_, found) in results.items()}
    print(f"\nlosses every 20 steps: {losses['single']}")
    others = [name for name, found in losses.items() if found != losses["single"]]
    if others:
        sys.exit(f"other losses with {', '.join(others)}: {losses}")


if __name__ == "__main__":
    main()
