#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a page takes to be made, and how large it is.

    bench/pages.py --convoy build/convoy           both cases, as a table
    bench/pages.py --keep FOLDER                   leaves the runs and pages there

Two cases: one run of an hour with a record of every step (100,000 steps, 8 ranks, one row
of resources per rank and second), and 300 runs of 10,000 points each. The runs are
written here, not trained: what counts is the number of records. With --browser the pages
are also opened in Chromium (tests/pages/measure.mjs) to time first paint and interaction.
"""

import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def step_line(step, steps, epoch, ranks, rng):
    part = step / steps
    record = {
        "kind": "step",
        "step": step,
        "epoch": epoch,
        "loss": 2.3 * math.exp(-4 * part) + 0.2 * rng.random(),
        "accuracy": min(1.0, 0.1 + 0.85 * part + 0.05 * rng.random()),
        "lr": 0.1 * (1 - part),
        "images_per_second": 3000 + 200 * rng.random(),
        "step_ms": 36 + 2 * rng.random(),
        "weight_norm": 8.9 + part,
    }
    record["ranks"] = [
        {
            "own_ms": 30 + 5 * rng.random(),
            "data_ms": 0.0,
            "exposed_ms": 4 * rng.random(),
            "bytes_sent": 494028,
        }
        for _ in range(ranks)
    ]
    return json.dumps(record, separators=(",", ":"))


def write_metrics(path, steps, epochs, ranks, seconds, rng):
    with path.open("w") as out:
        for step in range(1, steps + 1):
            epoch = 1 + (step - 1) * epochs // steps
            print(step_line(step, steps, epoch, ranks, rng), file=out)
            if step % (steps // epochs) == 0:
                common = {"step": step, "epoch": epoch, "loss": 2.3 * math.exp(-4 * step / steps)}
                common["accuracy"] = 0.1 + 0.85 * step / steps
                epoch_line = {"kind": "epoch", **common, "lr": 0.1, "seconds": seconds / epochs}
                epoch_line["images_per_second"] = 3000.0
                print(json.dumps(epoch_line), file=out)
                print(json.dumps({"kind": "eval", "split": "val", **common}), file=out)


def write_resources(path, seconds, ranks, rng):
    with path.open("w") as out:
        print(
            "time,rank,cpu_user_percent,cpu_system_percent,rss_bytes,peak_rss_bytes,"
            "bytes_sent,bytes_received,voluntary_switches,involuntary_switches,throttled_ms",
            file=out,
        )
        for second in range(int(seconds)):
            for rank in range(ranks):
                sent = 10_000_000 * second
                print(
                    f"{1.79e9 + second:.3f},{rank},{95 + 5 * rng.random():.1f},2.0,"
                    f"{33_000_000 + second},{34_000_000},{sent},{sent},1,1,0.0",
                    file=out,
                )


def write_run(folder, steps, epochs, ranks, seconds, seed):
    rng = random.Random(seed)
    folder.mkdir(parents=True)
    settings = f"train:\n  seed: {seed}\n  epochs: {epochs}\n"
    (folder / "config.yaml").write_text(settings)
    write_metrics(folder / "metrics.jsonl", steps, epochs, ranks, seconds, rng)
    write_resources(folder / "resources.csv", seconds if ranks > 1 else 0, ranks, rng)


def measure(convoy, runs, page):
    """Seconds of the fastest of three, and the size of the page in MB."""
    times = []
    for _ in range(3):
        begin = time.monotonic()
        subprocess.run([convoy, "report", runs, "-o", page], check=True, stdout=subprocess.DEVNULL)
        times.append(time.monotonic() - begin)
    return min(times), page.stat().st_size / 1e6


def in_browser(page):
    script = ROOT / "tests" / "pages" / "measure.mjs"
    out = subprocess.run(["node", script, page], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--convoy", default=str(ROOT / "build" / "convoy"))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--browser", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        if not (folder / "hour").exists():
            write_run(folder / "hour" / "run", 100_000, 20, 8, 3600, 1)
            for run in range(300):
                write_run(folder / "many" / f"run-{run}", 10_000, 10, 1, 600, run)
        print("| case | metrics, MB | seconds | page, MB |", end="")
        print(" first paint, ms | complete, ms | hover, ms | smoothing, ms |" if arguments.browser else "")
        for case in ["hour", "many"]:
            seconds, size = measure(arguments.convoy, folder / case, folder / f"{case}.html")
            read = sum(f.stat().st_size for f in folder.glob(f"{case}/*/metrics.jsonl")) / 1e6
            print(f"| {case} | {read:.0f} | {seconds:.2f} | {size:.2f} |", end="")
            if arguments.browser:
                found = in_browser(os.path.abspath(folder / f"{case}.html"))
                print(f" {found['paint']:.0f} | {found['shown']:.0f} | {found['hover']:.1f} | {found['smoothing']:.0f} |")
            else:
                print()


if __name__ == "__main__":
    main()
