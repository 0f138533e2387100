#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images per second of one core, from JPEG files to normalised batches: convoy beside torchvision.

  bench/compare_images.py FOLDER [--convoy build/convoy] [--rounds 3] [--seconds 4]

FOLDER has JPEG files, at any depth. Both read links to them in folders of two made-up classes, with
RandomResizedCrop(224), flip and normalisation, in batches of 32: convoy with data.workers=1, which is measured as
the processor time of its thread, and torchvision's DataLoader (PIL) in this process, which is one worker without
the cost of passing batches on. The same images are also packed by `convoy data pack`, resized to a shorter side of 256, as
JPEG and as raw pixels. Rounds alternate; the median and the fastest of each, and their ratios, are printed as JSON.
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


def pack(convoy, root, kind):
    """The packed file, and its bytes per image."""
    file = root / f"{kind}.pack"
    subprocess.run([convoy, "data", "pack", "--out", str(file), "--short-side", "256", "--as", kind, "data=imagefolder",
                    f"data.root={root}"], check=True, capture_output=True)
    return file, file.stat().st_size / sum(path.is_symlink() for path in root.rglob("class*/*"))


def convoy_rate(convoy, data, seconds, decode):
    text = subprocess.run(
        [convoy, "bench", "loader", "--json", "--seconds", str(seconds), *data, "data.normalize=fixed", f"data.mean={','.join(map(str, MEAN))}", f"data.std={','.join(map(str, STD))}", "train.augment=imagenet",
         "train.batch_size=32", "data.workers=1", f"data.decode={decode}", "model=resnet18"],
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
    convoy = os.path.abspath(options.convoy)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        make_folder(files, root)
        packed = {kind: pack(convoy, root, kind) for kind in ("jpeg", "raw")}
        ways = {"exact": (["data=imagefolder", f"data.root={root}"], "exact"),
                "fast": (["data=imagefolder", f"data.root={root}"], "fast")}
        for kind, (file, _) in packed.items():
            ways[f"packed {kind}"] = (["data=packed", f"data.root={file}"], "exact")
        rates = {name: [] for name in ("torchvision", *ways)}
        for _ in range(options.rounds):
            rates["torchvision"].append(torchvision_rate(root, options.seconds))
            for name, (data, decode) in ways.items():
                rates[name].append(convoy_rate(convoy, data, options.seconds, decode))
    result = {"files": len(files), "packed_bytes_per_image": {kind: round(size) for kind, (_, size) in packed.items()}}
    for what, of in (("median", statistics.median), ("fastest", max)):
        values = {name: of(rounds) for name, rounds in rates.items()}
        result[what] = {
            "images_per_core_second": {name: round(value, 1) for name, value in values.items()},
            "ratio": {name: round(values[name] / values["torchvision"], 2) for name in ways}}
    print(json.dumps(result | {"rounds": rates}, indent=2))


main()
