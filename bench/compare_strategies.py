#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds a step of `single` and of each strategy on several ranks.

  bench/compare_strategies.py [RANKS] [--link RATE] [setting=value ...]

A rank has its share of this machine's cores, and `single` has what a rank has, as if ranks
were machines; `cluster.threads=N` says otherwise. Each runs the experiment vgg11_NAME: 40
steps, of which the first is left out of the mean. All four have the same micro-batches, so their
losses must be the same; if not, that is said.

With --link the two ranks are on hosts of their own (network namespaces, which needs the
right to make them), joined by a cable of that rate: --link 1gbit.
"""

import argparse
import contextlib
import json
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONVOY = ROOT / "build" / "convoy"
STRATEGIES = ("gather_scatter", "all_reduce", "ddp")


HOSTS = ROOT / "tests" / "two_hosts.sh"
HOSTS_NAME = f"convoy-bench-{os.getpid()}"
TOKEN = {"CONVOY_TOKEN": secrets.token_hex(16)}


@contextlib.contextmanager
def hosts(rate):
    """Two hosts, joined by a cable of that rate; without a rate, none."""
    if rate:
        subprocess.run([HOSTS, "make", HOSTS_NAME, rate], check=True)
    try:
        yield
    finally:
        if rate:
            subprocess.run([HOSTS, "remove", HOSTS_NAME], check=True)


def on_host(number):
    """Words before a command that runs there."""
    return ["ip", "netns", "exec", f"{HOSTS_NAME}-{number}"]


def run_on_hosts(command, rate):
    """Runs the command as both nodes of a job, a rank each."""
    with hosts(rate):
        nodes = [subprocess.Popen(
            [*on_host(node), *command, "--nnodes", "2", "--node-rank", str(node),
             "--master-addr", "10.77.0.1", "-n", "1"],
            cwd=ROOT, stdout=subprocess.DEVNULL, env={**os.environ, **TOKEN})
            for node in (0, 1)]
        if any([node.wait() for node in nodes]):
            sys.exit("a node failed")


def run(name, ranks, settings, folder, link):
    """Trains and returns the run's summary and its losses."""
    experiment = "vgg11_ddp" if name == "single" else f"vgg11_{name}"
    command = [CONVOY, "train", f"experiment={experiment}", f"strategy={name}",
               f"run.dir={folder}", f"run.name={name}", *settings]
    if link and ranks > 1:
        run_on_hosts(command, link)
    else:
        subprocess.run([*command, "-n", str(ranks)], check=True, cwd=ROOT,
                       stdout=subprocess.DEVNULL)
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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ranks", nargs="?", type=int, default=2)
    parser.add_argument("--link", help="rate of the cable between two hosts, such as 1gbit")
    settings = [word for word in sys.argv[1:] if "=" in word]
    options = parser.parse_args([word for word in sys.argv[1:] if word not in settings])
    ranks = options.ranks
    if options.link and ranks != 2:
        parser.error("--link joins 2 ranks")
    threads = max(1, len(os.sched_getaffinity(0)) // ranks)
    settings = [f"cluster.threads={threads}", *settings]
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("single", *STRATEGIES):
            results[name] = run(name, 1 if name == "single" else ranks, settings, folder,
                                options.link)
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
