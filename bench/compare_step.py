#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Step time of convoy compared with PyTorch, alternately, in one session.

  bench/compare_step.py [--models lenet5,resnet18@32] [--batches 64] [--threads 1,2]
                        [--rounds 7]

A model is measured on its usual images, or on square ones of the size after the @.

A round runs convoy, PyTorch eager, PyTorch with channels_last, and convoy again; convoy's
time is the mean of its two. Each convoy run probes the machine's FMA speed before and
after, so four probes frame a round.

PyTorch is tuned as its users would: it runs on OpenBLAS with as many threads as asked for
(torch.set_num_threads alone does not reach OpenBLAS), and on several threads both with
OpenMP's usual spinning waits and without, of which the faster counts.

The rule for discarding rounds, fixed beforehand: a round counts only if its lowest probe
reaches 85 % of the highest probe of this whole run at that number of threads. What is
discarded is counted in the table. Ratios are taken round by round; the table shows the
median with the smallest and largest.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONVOY = ROOT / "build" / "convoy"
KEEP = 0.85
MODELS = "lenet5,cnn1,cnn2,mlp6,vgg11,fastnet,resnet18_cifar,resnet18@32,resnet18@224"


class Torch:
    """A peer process, asked line by line."""

    def __init__(self, threads, **environment):
        counts = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen(
            ["/usr/bin/python3", str(ROOT / "bench" / "torch_peer.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **counts, **environment})
        self.version = json.loads(self.process.stdout.readline())["torch"]

    def measure(self, **request):
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())["p50"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start_peers(threads):
    peers = [Torch(threads)]
    if threads > 1:
        peers.append(Torch(threads, GOMP_SPINCOUNT="0"))
    return peers


def model_and_image(case):
    model, _, image = case.partition("@")
    return model, int(image or 0)


def measure_convoy(case, batch, threads, seconds):
    model, image = model_and_image(case)
    command = [CONVOY, "bench", "step", f"model={model}", f"train.batch_size={batch}",
               f"cluster.threads={threads}", "--seconds", str(seconds), "--json"]
    if image:
        command += ["--image", str(image)]
    return json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def run_round(peers, case, batch, threads, seconds):
    model, image = model_and_image(case)
    request = dict(model=model, image=image, batch_size=batch, threads=threads,
                   seconds=seconds)
    first = measure_convoy(case, batch, threads, seconds / 2)
    eager = min(peer.measure(**request, channels_last=False) for peer in peers)
    last = min(peer.measure(**request, channels_last=True) for peer in peers)
    second = measure_convoy(case, batch, threads, seconds / 2)
    probes = [run[f"probe_gflops_{when}"] for run in (first, second)
              for when in ("before", "after")]
    return {"convoy": (first["step_ms"]["p50"] + second["step_ms"]["p50"]) / 2,
            "eager": eager, "channels_last": last, "probe": min(probes), "probes": probes,
            **{kind: (first["gflops"][kind] + second["gflops"][kind]) / 2
               for kind in ("effective", "real")}}


def describe(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}..{max(values):.2f})"


def table_row(case, rounds, best_probe):
    kept = [r for r in rounds if r["probe"] >= KEEP * best_probe]
    model, batch, threads = case
    if not kept:
        return f"| {model} | {batch} | {threads} | - | - | - | - | - | - | - | 0 of {len(rounds)} | - |"
    middle = {key: statistics.median(r[key] for r in kept)
              for key in ("convoy", "eager", "channels_last", "probe", "effective", "real")}
    return (f"| {model} | {batch} | {threads} | {middle['convoy']:.3f} | {middle['eager']:.2f} "
            f"| {middle['channels_last']:.2f} "
            f"| **{describe([r['eager'] / r['convoy'] for r in kept])}** "
            f"| {describe([r['channels_last'] / r['convoy'] for r in kept])} "
            f"| {middle['effective']:.0f} | {middle['real']:.0f} ({middle['real'] / middle['probe']:.0%}) "
            f"| {len(kept)} of {len(rounds)} | {middle['probe']:.0f} |")


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def machine_name():
    return "-".join(re.findall(r"[a-z0-9]+", processor().lower()))


def report(arguments, torch_version, results):
    best = {}
    for (_, _, threads), rounds in results.items():
        probes = [p for r in rounds for p in r["probes"]]
        best[threads] = max(best.get(threads, 0), max(probes))
    version = subprocess.run([CONVOY, "--version"], capture_output=True, text=True).stdout
    lines = [
        f"# Training step: convoy beside PyTorch {torch_version}", "",
        f"{datetime.date.today()}, {processor()}, {version.splitlines()[0]}, by `script/bench "
        f"{' '.join(arguments)}`.", "",
        "Milliseconds are medians of the rounds kept; ratios are PyTorch's time over convoy's,",
        "round by round: median (smallest..largest). GFLOP/s are convoy's: effective as if it had",
        "computed the plain way, real as it did. A round is kept if its lowest FMA probe is",
        f"at least {KEEP:.0%} of the highest seen at that number of threads ("
        + ", ".join(f"{t}: {p:.0f} GFLOP/s" for t, p in sorted(best.items())) + ").", "",
        "| model | batch | threads | convoy ms | eager ms | channels_last ms | ratio to eager "
        "| ratio to channels_last | effective GFLOP/s | real (of probe) | rounds kept | probe |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    lines += [table_row(case, rounds, best[case[2]]) for case, rounds in results.items()]
    return "\n".join(lines) + "\n"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--batches", default="64")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2, help="of each measurement")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the result (bench/results)")
    return parser.parse_args()


def main():
    options = parse_arguments()
    cases = [(model, int(batch), int(threads)) for model in options.models.split(",")
             for batch in options.batches.split(",") for threads in options.threads.split(",")]
    peers = {threads: start_peers(threads) for threads in {case[2] for case in cases}}
    results = {case: [] for case in cases}
    for number in range(options.rounds):
        for case in cases:
            results[case].append(run_round(peers[case[2]], *case, options.seconds))
            print(f"round {number + 1}/{options.rounds} {case}: "
                  + ", ".join(f"{k} {v:.3f}" for k, v in results[case][-1].items()
                              if k != "probes"), file=sys.stderr)
    version = next(iter(peers.values()))[0].version
    for peer in (peer for group in peers.values() for peer in group):
        peer.close()
    text = report(sys.argv[1:], version, results)
    print(text)
    folder = options.out or ROOT / "bench" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"step_{machine_name()}_{datetime.date.today()}.md").write_text(text)


if __name__ == "__main__":
    main()
