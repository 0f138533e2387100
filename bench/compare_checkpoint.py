# SPDX-License-Identifier: Apache-2.0
"""What checkpoints cost: a run with one every so many steps beside the same run with none.

The runs alternate, so that both see the same noise. Written to bench/results by default.
"""

import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODELS = {
    # steps of about as many seconds
    "mlp6": ["data.synthetic.channels=3", "data.synthetic.height=32", "data.synthetic.width=32"],
    "vgg11": ["data.synthetic.channels=3", "data.synthetic.height=32", "data.synthetic.width=32"],
}


def train(model, steps, every, folder, name):
    """The run's summary."""
    command = [
        HERE.parent / "build/convoy", "train", f"model={model}", "data=synthetic",
        f"data.synthetic.train_count={64 * steps}", "data.synthetic.test_count=64",
        "train.batch_size=64", "train.epochs=1", f"checkpoint.every_steps={every}",
        "checkpoint.every_epochs=0", f"run.dir={folder}", f"run.name={name}", *MODELS[model],
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads((pathlib.Path(folder) / name / "summary.json").read_text())


def seconds(summary):
    return summary["seconds"]["training"]


def compare(model, steps, every, rounds, folder):
    """A row of the table."""
    without, with_, blocked = [], [], []
    for i in range(rounds):
        without.append(seconds(train(model, steps, 0, folder, f"{model}-without-{i}")))
        summary = train(model, steps, every, folder, f"{model}-with-{i}")
        with_.append(seconds(summary))
        blocked.append(summary["seconds"]["checkpointing"])
        print(f"{model} round {i + 1}/{rounds}: without {without[-1]:.2f} s, with {with_[-1]:.2f} s, "
              f"of it blocked {blocked[-1]:.3f} s", flush=True)
    ratios = [a / b for a, b in zip(with_, without)]
    cost = 100 * (statistics.median(ratios) - 1)
    return (f"| {model} | {steps} | {every} | {statistics.median(without):.2f} | {statistics.median(with_):.2f} | "
            f"{statistics.median(blocked):.3f} | {cost:+.1f} % | {100 * (min(ratios) - 1):+.1f} .. "
            f"{100 * (max(ratios) - 1):+.1f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="mlp6,vgg11")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", default=HERE / "results", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [compare(model, arguments.steps, arguments.every, arguments.rounds, folder)
                for model in arguments.models.split(",")]
    version = subprocess.run([HERE.parent / "build/convoy", "--version"], check=True, capture_output=True,
                             text=True).stdout.splitlines()[0]
    today = datetime.date.today().isoformat()
    text = "\n".join([
        "# What checkpoints cost", "",
        f"{today}, {version}, by `bench/compare_checkpoint.py`: batch 64, all cores, runs with and without one after the",
        f"other, medians of {arguments.rounds} rounds. Blocked is the time for which training itself waited (a copy of the",
        "numbers); the rest is what the writing thread takes from the cores.", "",
        "| model | steps | checkpoint every | seconds without | with | of it blocked | cost | least .. most |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", *rows, ""])
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / f"checkpoint_{today}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
