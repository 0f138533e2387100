# SPDX-License-Identifier: Apache-2.0
"""What checkpoints cost: a run with one every few steps, compared with the same run with none.

Whole runs differ by more than a checkpoint costs on a shared machine. So the cost is also taken
from within a run: what the steps while one is written take more than the steps after them, and what saving
itself blocks. Written to bench/results by default.
"""

import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CONVOY = HERE.parent / "build/convoy"
SHAPE = ["data.synthetic.channels=3", "data.synthetic.height=32", "data.synthetic.width=32"]


def train(model, steps, every, folder, name):
    """The run's summary, and the milliseconds of its steps."""
    command = [
        CONVOY, "train", "--quiet", f"model={model}", "data=synthetic", f"data.synthetic.train_count={64 * steps}",
        "data.synthetic.test_count=64", "train.batch_size=64", "train.epochs=1", "train.log_every=1",
        f"checkpoint.every_steps={every}", "checkpoint.every_epochs=0", f"run.dir={folder}", f"run.name={name}", *SHAPE,
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    run = pathlib.Path(folder) / name
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    times = [record["step_ms"] for record in records if record["kind"] == "step"]
    return json.loads((run / "summary.json").read_text()), times


def slowed_ms(times, every):
    """By checkpoint: how much longer the steps of its first half took than as many after them."""
    costs = []
    for begin in range(every, len(times) - every + 1, every):
        window = times[begin:begin + every]
        usual = statistics.median(window[every // 2:])
        costs.append(sum(window[:every // 2]) - usual * (every // 2))
    return costs


def compare(model, steps, every, rounds, folder):
    """A row of the table."""
    without, with_, blocked, slowed = [], [], [], []
    for i in range(rounds):
        summary, _ = train(model, steps, 0, folder, f"{model}-without-{i}")
        alone = summary["seconds"]
        summary, times = train(model, steps, every, folder, f"{model}-with-{i}")
        seconds = summary["seconds"]
        without.append(alone["training"])
        with_.append(seconds["training"] + seconds["checkpointing"] - alone["checkpointing"])
        # Both end with a checkpoint that is waited for.
        blocked.append(1e3 * (seconds["checkpointing"] - alone["checkpointing"]) / (steps // every - 1))
        slowed += slowed_ms(times, every)
        print(f"{model} round {i + 1}/{rounds}: without {without[-1]:.2f} s, with {with_[-1]:.2f} s; a checkpoint blocks "
              f"{blocked[-1]:.0f} ms", flush=True)
    between = 1e3 * statistics.median(without) * every / steps
    block, slow = statistics.median(blocked), statistics.median(slowed)
    whole = statistics.median([a / b for a, b in zip(with_, without)])
    return (f"| {model} | {every} | {between:.0f} ms | {block:.0f} ms | {slow:.0f} ms | **{100 * (block + slow) / between:.1f} %** | "
            f"{statistics.median(without):.2f} s | {statistics.median(with_):.2f} s | {100 * (whole - 1):+.1f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="mlp6,vgg11")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--out", default=HERE / "results", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [compare(model, arguments.steps, arguments.every, arguments.rounds, folder)
                for model in arguments.models.split(",")]
    version = subprocess.run([CONVOY, "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]
    today = datetime.date.today().isoformat()
    text = "\n".join([
        "# What checkpoints cost", "",
        f"{today}, {version}, by `bench/compare_checkpoint.py`: batch 64, all cores, {arguments.rounds} rounds of {arguments.steps}",
        "steps, medians. A checkpoint blocks training while its numbers are copied, and slows the steps during which a",
        "thread writes it; both beside the time from one to the next. Whole runs with and without are to the right: they",
        "differ by more than that from round to round. A negative number is noise, larger than what was to be measured.", "",
        "| model | every | time between | blocks | slows | cost | run without | run with | difference |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", *rows, ""])
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / f"checkpoint_{today}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
