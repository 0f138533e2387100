#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images per second of one core, from JPEG files to normalised batches: convoy beside torchvision.

  bench/compare_images.py FOLDER [--convoy build/convoy] [--rounds 3] [--seconds 4]

FOLDER has JPEG files, at any depth. Both read links to them in folders of two made-up classes, with
RandomResizedCrop(224), flip and normalisation, in batches of 32: convoy with data.workers=1, which is measured as
the processor time of its thread, and torchvision's DataLoader (PIL) in this process, which is one worker without
the cost of passing batches on. Rounds alternate; medians and their ratio are printed as JSON.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
COPIES = 8


def make_folder(files, root):
    for half in ("train", "val"):
        for number, file in enumerate(files * (COPIES if half == "train" else 1)):
            folder = root / half / f"class{number % 2}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}{file.suffix}").symlink_to(file)


def torchvision_rate(root, seconds):
    import torch
    from torchvision import datasets, transforms

    torch.set_num_threads(1)
    shown = transforms.Compose([
        transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
        transforms.Normalize(MEAN, STD)])
    data = datasets.ImageFolder(str(root / "train"), shown)
    loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
    images, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        for batch, _ in loader:
            images += len(batch)
            if time.process_time() - start >= seconds:
                break
    return images / (time.process_time() - start)


def convoy_rate(convoy, root, seconds, decode):
    text = subprocess.run(
        [convoy, "bench", "loader", "--json", "--seconds", str(seconds), "data=imagefolder", f"data.root={root}",
         "data.normalize=fixed", f"data.mean={','.join(map(str, MEAN))}", f"data.std={','.join(map(str, STD))}",
         "train.augment=imagenet", "train.batch_size=32", "data.workers=1", f"data.decode={decode}", "model=resnet18"],
        check=True, capture_output=True, text=True).stdout
    return 1e6 / json.loads(text)["core_us"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--convoy", default="build/convoy")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    options = parser.parse_args()
    files = sorted(path.resolve() for path in options.folder.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    rates = {"torchvision": [], "exact": [], "fast": []}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        make_folder(files, root)
        for _ in range(options.rounds):
            rates["torchvision"].append(torchvision_rate(root, options.seconds))
            for decode in ("exact", "fast"):
                rates[decode].append(convoy_rate(os.path.abspath(options.convoy), root, options.seconds, decode))
    medians = {name: statistics.median(values) for name, values in rates.items()}
    print(json.dumps({
        "files": len(files),
        "images_per_core_second": {name: round(value, 1) for name, value in medians.items()},
        "ratio": {name: round(medians[name] / medians["torchvision"], 2) for name in ("exact", "fast")},
        "rounds": rates}, indent=2))


main()
