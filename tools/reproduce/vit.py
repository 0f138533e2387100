#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""vit: ViT-B/32 on CIFAR-10 by DDP and by FSDP, each with its largest batch, to object storage.

  script/reproduce vit [--quick | --full] [--upload s3://bucket/prefix] [--out FOLDER] [--write]

Without --upload, npm's s3rver on this machine takes the checkpoints, as in the tests.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import subprocess

from common import ROOT, block, clock, paragraph, percent, reproduce, table


@dataclasses.dataclass(frozen=True)
class Size:
    split: str  # training, validation and test samples
    epochs: int
    memory_gib: float  # of both ranks together; 0: what is free
    small_split: str  # of the small transformer
    small_epochs: int


SIZES = {"tiny": Size("12,6,6", 1, 5, "128,32,32", 1),
         "quick": Size("300,60,60", 2, 8, "4000,500,1000", 2),
         "full": Size("3000,500,1000", 3, 0, "45000,5000,10000", 5)}
STRATEGIES = ("ddp", "fsdp")
T4 = "15360MiB"  # of a published node

PUBLISHED = (
    ("published: DDP, 2 x 1 T4, 10 epochs, fp32", "768", "42:00", "63.74", "14,935 of 15,360"),
    ("gokul-pv: DDP, 4 x 1 T4, 25 epochs, fp32", "1280", "1:22:00", "90.13 (test)", ""),
    ("gokul-pv: FSDP, 4 x 1 T4, 25 epochs, fp16", "1280", "35:00", "83.68 (test)", ""),
    ("jai-mr: FSDP, 1 x 4 T4, 25 epochs, fp16", "1024", "44:45", "42", "10,611"),
    ("jai-mr: DDP, 2 x 1 T4, 25 epochs, fp32", "512", "1:19:03", "", "11,057"),
    ("sushant097: FSDP, 4 T4, fp16", "2048", "", "", "12,957"))


@contextlib.contextmanager
def storage(study):
    """(address, environment): the user's, or an S3 server of this machine for as long as it lasts."""
    if study.options.upload:
        yield study.options.upload, {}
        return
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    store = study.out / "s3"
    store.mkdir(exist_ok=True)
    server = subprocess.Popen(["node", ROOT / "tests" / "s3" / "server.js",
                               cache / "convoy" / "s3rver", store, "models"],
                              stdout=subprocess.PIPE, text=True)
    try:
        port = server.stdout.readline().split()[-1]
        yield "s3://models/vit", {
            "AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER",
            "AWS_REGION": "us-east-1", "no_proxy": "127.0.0.1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
    finally:
        server.terminate()
        server.wait()


def large(study, strategy, address, environment):
    size = study.size
    return study.train(f"vit_b_32_{strategy}", f"experiment=cifar10_vit_b_32_{strategy}", "-n", 2,
                       "train.batch_size=max", f"cluster.memory_gib={size.memory_gib}",
                       f"data.split={size.split}", f"train.epochs={size.epochs}",
                       "train.log_every=1", "eval.before_training=true", "checkpoint.keep=1",
                       f"checkpoint.upload={address}", environment=environment)


def small(study, strategy):
    size = study.size
    return study.train(f"vit_cifar_{strategy}", "experiment=cifar10_vit", f"strategy={strategy}",
                       "-n", 2, "train.microbatches=2", f"train.epochs={size.small_epochs}",
                       f"data.split={size.small_split}", "train.log_every=10")


def fit_rows(study):
    """Largest batches on nodes with as much memory as a T4 has, by the plan alone."""
    for ranks, nnodes in ((2, 2), (4, 4), (8, 8)):
        name = f"fit, {ranks} ranks"
        found = json.loads(study.command(name, "fit", "experiment=cifar10_vit_b_32", "--memory", T4,
                                         "--ranks", ranks, f"cluster.nnodes={nnodes}", "--json"))
        batch = {(row["strategy"], row["recompute"]): row["batch_size"] for row in found["rows"]}
        yield [ranks, *[batch[strategy, recompute] for strategy in STRATEGIES
                        for recompute in ("none", "units")]]


def fit(study):
    yield "## The largest batch\n"
    yield from table(("nodes of one rank, 15 GiB each", "ddp", "ddp, recompute", "fsdp",
                      "fsdp, recompute"), fit_rows(study), left=0)
    yield paragraph("Samples of one update, over all ranks. Published for GPUs of that memory: 768 "
                    "(two nodes, DDP), 1,280 (four nodes), 2,048 (FSDP on four, fp16).")


def best_validation(run):
    """Untrained weights do not count."""
    return max(record["accuracy"] for record in run.evaluations() if record["step"])


def result_row(label, run):
    return [label, run.summary["batch_size"], clock(run.summary["seconds"]["training"]),
            f"{100 * best_validation(run):.2f}", f"{run.peak_mebibytes:,.0f}",
            f"{run.cpu_percent():.0f} %"]


def results(study, runs):
    yield "## Training\n"
    rows = [result_row(f"convoy: {run.name}, 2 ranks, {run.summary['epochs']} epochs", run)
            for run in runs]
    rows += [[*row, "100 % of the GPU" if "10 epochs" in row[0] else ""] for row in PUBLISHED]
    yield from table(("", "batch", "training time", "best validation accuracy, %",
                      "MiB per rank", "CPU of a rank"), rows)
    yield paragraph(
        f"`vit_b_32` trains on {study.size.split.split(',')[0]} samples with the largest batch that "
        + (f"fits into {study.size.memory_gib} GiB" if study.size.memory_gib else "fits")
        + "; `vit_cifar`, a small transformer for 32 x 32 pixels, on "
        f"{study.size.small_split.split(',')[0]} with batches of 64.")


def curve(run):
    return [run.name, *[f"{record['accuracy']:.4f} / {record['loss']:.3f}"
                        for record in run.evaluations()[:4]]]


def curves(runs):
    yield "## Validation accuracy / loss by epoch\n"
    rows = [curve(run) for run in runs if run.name.startswith("vit_b_32")]
    longest = max(map(len, rows))
    rows = [row + [""] * (longest - len(row)) for row in rows]
    rows.append(["published", "0.093 / 2.928", "0.2772 / 2.025", "0.4094", "0.4420"][:longest])
    yield from table(["", "before", *[str(epoch) for epoch in range(1, longest - 1)]], rows)


def logbook(study):
    """The entries of the two runs, as convoy wrote them."""
    entries = re.split(r"\n(?=## `)", (study.out / "logbook.md").read_text())
    for strategy in STRATEGIES:
        found = [entry for entry in entries if entry.startswith(f"## `vit_b_32_{strategy}`")]
        if found:
            yield found[-1].replace("## ", "### ", 1).strip() + "\n"


def stored(study, address, environment):
    """Tests the best checkpoints from where they were uploaded."""
    yield "## The best checkpoints, in object storage\n"
    rows = []
    for strategy in STRATEGIES:
        place = f"{address}/vit_b_32_{strategy}/best"
        folder = study.out / f"eval_{strategy}"
        study.command(f"eval {strategy}", "eval", place, "--out", folder, environment=environment)
        found = json.loads((folder / "eval.json").read_text())
        rows.append([f"`{place}`", percent(found["accuracy"]), f"{found['loss']:.4f}"])
    yield from table(("evaluated from", "test accuracy", "loss"), rows)


def uploads(study):
    log = (study.out / "vit_b_32_ddp" / "log.txt").read_text()
    return sorted(set(re.findall(r"uploaded (s3://\S+)", log)))


def plan(study):
    text = study.command("plan", "train", "experiment=cifar10_vit_b_32", "train.microbatches=16",
                         "--dry-run")
    steps = re.search(r"steps\s+(\d+) per epoch", text)[1]
    model = re.search(r"([\d,]+) parameters", text)[1]
    return (f"The published run, as a plan: {steps} steps per epoch of 45,000 samples in batches of "
            f"768 (published: 59), {model} parameters (published: 87,462,922).")


DIFFERS = """
The published runs start from pretrained weights on GPUs (their rate of 0.002 destroys most of what
these know); `model.init=FILE` does the same here, and these runs start at random weights, on a part of
the samples, because these cores train {speed:.1f} images of 224 x 224 per second. So accuracies after so few
updates say little, and memory, batch sizes, steps and what is stored are what can be compared.
FSDP was never run in the published project; those of others mix it with fp16. Ranks share one machine's
memory, so the largest batch here is that of both ranks together. GPU memory and utilisation are the
resident memory and CPU utilisation of a rank. `train.batch_size` is the batch of all ranks (Lightning's
is per process: 384 of 768). The test runs on the best checkpoint, which the published script skips by a
mistake. TensorBoard.dev has ended: event files are uploaded with the records.
"""


def page(study):
    with storage(study) as (address, environment):
        yield from sections(study, address, environment)


def sections(study, address, environment):
    yield from study.head("ViT-B/32 on CIFAR-10 by DDP and FSDP", """
        An assignment of a course on machine-learning operations: train ViT-B/32 by FSDP and by DDP with
        the largest batch of each, store the best checkpoints in S3, and keep a log book.""")
    yield paragraph(plan(study))
    yield from fit(study)
    runs = [large(study, strategy, address, environment) for strategy in STRATEGIES]
    runs += [small(study, strategy) for strategy in STRATEGIES]
    yield from results(study, runs)
    yield from curves(runs)
    yield from study.charts("fsdp", [runs[1]], ("cpu", "memory"))
    yield from study.charts("small", runs[2:3], ("loss", "accuracy"))
    yield "\n## Log book\n"
    yield from logbook(study)
    yield from stored(study, address, environment)
    yield paragraph("Of the run by DDP these were uploaded besides the checkpoints:")
    yield block(uploads(study))
    yield "## What differs, and why\n"
    yield paragraph(DIFFERS.format(speed=runs[0].summary["images_per_second"]))


if __name__ == "__main__":
    reproduce("vit", __doc__, SIZES, page, data="cifar10",
              more=[("--upload", "s3://bucket/prefix for the checkpoints")])
