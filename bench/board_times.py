# SPDX-License-Identifier: Apache-2.0
"""How quickly `convoy board` answers: a folder of many runs with many points each.

Makes the runs (once, from one run that is trained), serves them, and takes times: the first
answer, all runs read, a run thinned, a range in full, a page of ten runs. With --browser also what
a person waits for in Chromium: first paint, the list, filtering, a run, ten runs compared, a zoom.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent


def trained_run(convoy, folder):
    """The folder of a small run, whose settings and summary the others copy."""
    command = [convoy, "train", "--quiet", "data=synthetic", "train.epochs=1", "run.name=template",
               f"run.dir={folder}", "checkpoint.enabled=false", "run.logbook=false"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "template"


def step_lines(run, points):
    """Records of steps, with one epoch and evaluation per hundredth of them."""
    every = max(1, points // 100)
    for step in range(1, points + 1):
        loss = 2.3 / (1 + step / (300 + run)) + 0.01 * ((step * 7919 + run * 31) % 100) / 100
        yield {"kind": "step", "step": step, "epoch": 1 + step // every, "loss": loss,
               "accuracy": 1 - loss / 3, "lr": 0.01, "images_per_second": 5000.0, "step_ms": 1.0,
               "weight_norm": 20 + step / points,
               "ranks": [{"own_ms": 1.0, "data_ms": 0.0, "exposed_ms": 0.1, "bytes_sent": 0}]}
        if step % every == 0:
            epoch = step // every
            yield {"kind": "epoch", "step": step, "epoch": epoch, "loss": loss, "accuracy": 0.5,
                   "lr": 0.01, "seconds": 1.0, "images_per_second": 5000.0}
            yield {"kind": "eval", "split": "val", "step": step, "epoch": epoch, "loss": loss,
                   "accuracy": 1 - loss / 3, "correct": 1, "total": 2, "seconds": 0.1}


def make_runs(template, folder, runs, points):
    for run in range(runs):
        place = folder / f"run-{run:04}"
        place.mkdir(parents=True)
        config = (template / "config.yaml").read_text()
        (place / "config.yaml").write_text(config.replace("seed: 1", f"seed: {run}"))
        shutil.copy(template / "summary.json", place)
        with open(place / "metrics.jsonl", "w") as file:
            for line in step_lines(run, points):
                file.write(json.dumps(line, separators=(",", ":")) + "\n")


class Board:
    def __init__(self, convoy, folder):
        self.begin = time.monotonic()
        self.process = subprocess.Popen([convoy, "board", folder, "--port", "0"],
                                        stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.startswith("open"):
                self.address = line.split()[1]
                break
        self.base = self.address.split("?")[0]

    def get(self, path):
        """The answer and the milliseconds it took."""
        begin = time.monotonic()
        with urllib.request.urlopen(self.base + path) as answer:
            body = answer.read()
        return body, 1e3 * (time.monotonic() - begin)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def median_ms(board, path, rounds):
    times, size = [], 0
    for _ in range(rounds):
        body, took = board.get(path)
        times.append(took)
        size = len(body)
    return statistics.median(times), size


def server_times(board, rounds):
    rows = []
    _, first = board.get("api/runs")
    rows.append(("first answer, since the start", 1e3 * (time.monotonic() - board.begin), first))
    while json.loads(board.get("api/runs?since=0")[0])["reading"] > 0:
        time.sleep(0.02)
    rows.append(("all runs read, since the start", 1e3 * (time.monotonic() - board.begin), None))
    ten = "&".join(f"run=run-{i:04}" for i in range(10))
    for what, path in (("the page", ""), ("the list, complete", "api/runs"),
                       ("a run, thinned to 2,000 points", "api/run/run-0000"),
                       ("a range of 2,000 steps in full",
                        "api/run/run-0000?points=20000&from=4000&to=6000"),
                       ("ten runs, to compare", "api/page?" + ten)):
        took, size = median_ms(board, path, rounds)
        rows.append((what, took, size))
    return rows


def browser_times(board):
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    modules = cache / "convoy" / "playwright" / "node_modules"
    made = subprocess.run(["node", ROOT / "bench" / "board_browser.js", modules, board.address],
                          check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(made.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--convoy", default=str(ROOT / "build" / "convoy"))
    parser.add_argument("--folder", required=True, type=pathlib.Path,
                        help="where the runs are, or are made if there are none")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--points", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--browser", action="store_true")
    options = parser.parse_args()
    if not options.folder.exists():
        template = trained_run(options.convoy, options.folder.parent / "board-template")
        make_runs(template, options.folder, options.runs, options.points)
        shutil.rmtree(template.parent)
    board = Board(options.convoy, str(options.folder))
    try:
        print("| server | ms | kB |\n| --- | ---: | ---: |")
        for what, took, size in server_times(board, options.rounds):
            print(f"| {what} | {took:.0f} | {'' if size is None else f'{size / 1e3:.0f}'} |")
        if options.browser:
            print("\n| browser | ms |\n| --- | ---: |")
            for what, took in browser_times(board).items():
                print(f"| {what} | {took:.0f} |")
    finally:
        board.stop()


if __name__ == "__main__":
    sys.exit(main())
