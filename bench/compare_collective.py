#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""All-reduce of convoy compared with Gloo's own and PyTorch's, between processes of this machine.

  bench/compare_collective.py [--ranks 2] [--bytes 4096,1048576,36900000] [--rounds 5]

A round runs convoy through shared memory and over TCP, each in turns with Gloo's own over
loopback, then PyTorch over Gloo. Ratios are taken round by round; the table shows medians,
with the smallest and largest ratio.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = "4096,65536,1048576,4194304,36900000,67108864"


def output(*command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def rows(*command):
    return {row["bytes"]: row for row in output(*command)["rows"]}


def one_round(options):
    usual = ["--ranks", str(options.ranks), "--bytes", options.bytes,
             "--seconds", str(options.seconds)]
    ours = [str(ROOT / "build" / "convoy"), "bench", "collective", "--json", *usual]
    return {"shared": rows(*ours, "--transport", "shared"),
            "tcp": rows(*ours, "--transport", "tcp"),
            "torch": rows("/usr/bin/python3", str(ROOT / "bench" / "torch_collective.py"), *usual)}


def middle(rounds, who, size, column="p50_us"):
    return statistics.median(each[who][size][column] for each in rounds)


def ratio(rounds, size, slower, column="p50_us"):
    found = sorted(each[slower][size][column] / each["shared"][size]["p50_us"]
                   for each in rounds)
    return f"{statistics.median(found):.1f} ({found[0]:.1f}-{found[-1]:.1f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--bytes", default=SIZES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    options = parser.parse_args()
    rounds = [one_round(options) for _ in range(options.rounds)]

    print(f"all-reduce between {options.ranks} processes, p50 in us, {options.rounds} rounds\n")
    print("| bytes | convoy, shared memory | convoy, TCP | Gloo's own | PyTorch, Gloo "
          "| Gloo / shared | PyTorch / shared |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size in (int(size) for size in options.bytes.split(",")):
        gloo = middle(rounds, "shared", size, "gloo_p50_us")
        print(f"| {size:,} | {middle(rounds, 'shared', size):,.0f} "
              f"| {middle(rounds, 'tcp', size):,.0f} | {gloo:,.0f} "
              f"| {middle(rounds, 'torch', size):,.0f} "
              f"| {ratio(rounds, size, 'shared', 'gloo_p50_us')} "
              f"| {ratio(rounds, size, 'torch')} |")


if __name__ == "__main__":
    main()
