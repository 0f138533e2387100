#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What loading image files costs a training: resnet18 at 224x224 from JPEG files beside the same on synthetic data.

  bench/compare_loading.py FOLDER [--convoy build/convoy] [--rounds 3] [--steps 12] [--batch 16] [setting=value ...]

FOLDER has JPEG files, at any depth. Both trainings have as many classes, samples and steps, and the same batch; the
files are links in folders of eight made-up classes, with random resized crops and flips (settings change that).
Rounds alternate. Prints medians as JSON: images per second of each step's median, the time that training waited for
data, and the loader's share of the processor time.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

CLASSES, COPIES = 8, 8


def make_folder(files, root):
    for half in ("train", "val"):
        for number, file in enumerate(files * COPIES if half == "train" else files[:2 * CLASSES]):
            folder = root / half / f"class{number % CLASSES}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}{file.suffix}").symlink_to(file)


def train(options, root, name, settings):
    subprocess.run(
        [os.path.abspath(options.convoy), "train", "--quiet", "model=resnet18", f"train.batch_size={options.batch}",
         f"train.max_steps={options.steps}", f"run.dir={root}", f"run.name={name}", "run.report=false",
         "checkpoint.enabled=false", *settings, *options.settings],
        check=True, capture_output=True, text=True)
    return json.loads((root / name / "summary.json").read_text())


def row(summary, batch):
    seconds, loader = summary["seconds"], summary.get("loader", {})
    return {"images_per_second": batch / summary["step_ms"]["p50"] * 1000,
            "whole_training": summary["images_per_second"],
            "waiting": seconds["waiting_for_data"] / seconds["training"],
            "loader_share": loader.get("cpu_share", 0.0), "threads": loader.get("threads", 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("settings", nargs="*")
    parser.add_argument("--convoy", default="build/convoy")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--batch", type=int, default=16)
    options = parser.parse_args()
    files = sorted(path.resolve() for path in options.folder.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    rows = {"files": [], "synthetic": []}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        make_folder(files, root / "data")
        kinds = {
            "files": ["data=imagefolder", f"data.root={root / 'data'}", "data.normalize=fixed",
                      "data.mean=0.485,0.456,0.406", "data.std=0.229,0.224,0.225", "train.augment=imagenet"],
            "synthetic": ["data=synthetic", "data.synthetic.channels=3", "data.synthetic.height=224",
                          "data.synthetic.width=224", f"data.synthetic.classes={CLASSES}",
                          f"data.synthetic.train_count={len(files) * COPIES}",
                          f"data.synthetic.test_count={2 * CLASSES}"]}
        for number in range(options.rounds):
            for kind, settings in kinds.items():
                rows[kind].append(row(train(options, root, f"{kind}{number}", settings), options.batch))
    medians = {kind: {key: round(statistics.median(one[key] for one in of), 4) for key in of[0]}
               for kind, of in rows.items()}
    ratios = [one["images_per_second"] / other["images_per_second"]
              for one, other in zip(rows["files"], rows["synthetic"])]
    print(json.dumps({"files": len(files), "medians": medians, "of_synthetic": round(statistics.median(ratios), 4),
                      "rounds": rows}, indent=2))


main()
