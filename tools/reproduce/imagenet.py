#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""imagenet: ResNet-18 on ImageNet on one and on two nodes, in fp32 and in Apex's O2.

  script/reproduce imagenet [--quick | --full] [--data FOLDER] [--out FOLDER] [--write]

FOLDER has train/CLASS/* and val/CLASS/*. Without it, images of ImageNet's shape are generated.
"""

import dataclasses
import json
import re

import nodes
from common import block, clock, paragraph, reproduce, table


@dataclasses.dataclass(frozen=True)
class Size:
    images: int  # for training, of an epoch
    validation: int
    batch: int  # of a node
    side: int


SIZES = {"tiny": Size(64, 16, 16, 64), "quick": Size(1024, 256, 256, 224),
         "full": Size(8192, 1024, 256, 224)}
IMAGENET = (1281167, 50000)
PRECISIONS = {"fp32": "fp32", "o2": "amp_o2"}

# Two g4dn.2xlarge with one T4 each, Apex O2; validation is of the master.
PUBLISHED = (("published: 1 node, 2 epochs", "1:30:40", "", "33.637 / 57.948", "49.090 / 73.862"),
             ("published: 2 nodes, 2 epochs", "48:44", "1.86", "33.299 / 57.636", "46.856 / 72.008"),
             ("published: 2 nodes, 6 epochs", "3:18:20", "", "53.568 / 76.528", "60.012 / 82.660"))
SCALER = re.compile(r"scal|opt_level|cast_model|Gradient overflow|master_weights|batchnorm")


def synthetic(images, validation, side):
    return ["data=synthetic", "train.augment=none", "data.synthetic.channels=3",
            f"data.synthetic.height={side}", f"data.synthetic.width={side}",
            "data.synthetic.classes=1000", f"data.synthetic.train_count={images}",
            f"data.synthetic.test_count={validation}"]


def data_of(study):
    size, folder = study.size, study.options.data
    if not folder:
        return synthetic(size.images, size.validation, size.side)
    return [f"data.root={folder}"]


def length_of(study, batch):
    """A folder may have any number of images: training is cut to the size's, and its whole validation
    set is evaluated at the end alone."""
    if not study.options.data:
        return []
    return [f"train.max_steps={2 * -(-study.size.images // batch)}", "eval.every_epochs=1000"]


def train(study, name, count, precision):
    experiment = "imagenet_resnet18_2nodes" if count > 1 else "imagenet_resnet18"
    batch = study.size.batch * count
    return study.train(name, f"experiment={experiment}", *data_of(study), f"precision={precision}",
                       f"train.batch_size={batch}", f"train.microbatches={count}",
                       "cluster.threads=1", "cluster.pin=false", "train.log_every=1",
                       *length_of(study, batch), nodes=count)


def training(run):
    """Top-1 and top-5 of the last epoch, as printed at its end."""
    found = re.findall(r" \* Train Acc@1 (\S+) Train Acc@5 (\S+)", "\n".join(run.log()))
    return " / ".join(found[-1])


def validation(run):
    """Top-1 and top-5 of the last evaluation."""
    found = json.loads((run.folder / "eval.json").read_text())
    return f"{100 * found['top1']['accuracy']:.3f} / {100 * found['top5']['accuracy']:.3f}"


def result_rows(runs):
    for precision, (one, two) in runs.items():
        for count, run in ((1, one), (2, two)):
            seconds = run.summary["seconds"]
            speed = run.summary["images_per_second"] / one.summary["images_per_second"]
            yield [f"convoy, {precision}: {count} node{'s' * (count > 1)}",
                   clock(seconds["training"]), f"{speed:.2f}",
                   training(run), validation(run)]
    for row in PUBLISHED:
        yield row


def cost_rows(runs):
    for precision, pair in runs.items():
        for run in pair:
            yield [run.name, f"{run.summary['images_per_second']:.2f}", f"{run.step_seconds:.2f} s",
                   f"{run.megabytes_sent:.1f}", f"{run.peak_mebibytes:.0f}",
                   f"{run.summary['seconds']['waiting_for_data']:.2f} s"]


def results(study, runs):
    yield "## Two epochs\n"
    yield from table(("", "training time", "speed-up", "train top-1 / top-5, %", "val top-1 / top-5, %"),
                     result_rows(runs))
    yield from table(("run", "images/s", "step", "MB sent per step", "MiB, peak", "waited for data"),
                     cost_rows(runs))
    yield paragraph(f"A node has one thread and batches of {study.size.batch}; the two nodes are "
                    f"{nodes.where()}. What is sent includes the first values, with O2 the masters as "
                    "well, which is much beside so few steps.")


def first_and_last(run):
    rates = [record["lr"] for record in run.records("step")]
    return f"{rates[0]:.4g}, {max(rates):.4g}, {rates[-1]:.4g}"


def step_counts(study):
    """Steps of an epoch of as many images as ImageNet has, by the plan alone: small images do."""
    for label, experiment, published in (("one node", "imagenet_resnet18", "5005"),
                                         ("two nodes", "imagenet_resnet18_2nodes", "2503")):
        text = study.command(f"plan, {label}", "train", f"experiment={experiment}",
                             *synthetic(*IMAGENET, 8), "--dry-run")
        yield f"{label}, steps per epoch of {IMAGENET[0]:,} images", \
            re.search(r"steps\s+([\d,]+) per epoch", text)[1].replace(",", ""), published


def recipe(study, runs):
    one = runs["fp32"][0]
    yield "## The recipe\n"
    rows = [*step_counts(study),
            ("learning rate: first, largest, last (one cycle)", first_and_last(one), "0.04, 1, 4e-06"),
            ("parameters", f"{one.summary['parameters']:,}", "11,689,512"),
            ("mean loss of the first steps", f"{one.records('step')[0]['loss']:.4f}", "6.9626")]
    yield from table(("", "convoy", "published"), rows)


def printed(runs):
    yield "## What is printed\n"
    run = runs["fp32"][1]
    wanted = [line for line in run.log() if re.search(r"Epoch|Acc@|Training complete|accuracy", line)]
    yield block(wanted if len(wanted) < 12 else [*wanted[:6], "...", *wanted[-4:]])
    o2 = runs["o2"][0]
    yield "\nThe options of O2, and the loss scale:\n"
    yield block([line for line in o2.log() if SCALER.search(line)][:24])
    yield block([f"{name}: {value}" for name, value in o2.summary["amp"].items()])


DIFFERS = """
The published runs are of GPUs on the whole ImageNet; a node here is one thread. {data} So times and
accuracies are those of this data, and what can be compared is the recipe (steps, rates, prints), the
speed-up of two nodes, and O2 beside fp32. Validation here is exact over all ranks, where the published
figures are one rank's share; the best checkpoint is that of the best epoch, where the published script
takes the best single batch; two nodes end at the bits of one process with the same two micro-batches.
On processors without 16-bit arithmetic O2 saves memory and bytes sent, not time. The loss scale grows
after 2,000 good steps, so that the growth of the published log (to 2^21 after 10,000 steps) needs a
longer run than this.
"""


def page(study):
    yield from study.head("ResNet-18 on ImageNet, two nodes, mixed precision", """
        A homework of Berkeley's MIDS course trains ResNet-18 from random weights on one GPU and on
        two nodes of one GPU each, with Apex's O2 and one cycle of the learning rate up to 1.0.""")
    runs = {name: [train(study, f"{name}_nodes_{count}", count, precision) for count in (1, 2)]
            for name, precision in PRECISIONS.items()}
    yield from results(study, runs)
    yield from recipe(study, runs)
    yield from printed(runs)
    yield from study.charts("two_nodes", [runs["fp32"][1]], ("loss", "cpu", "memory"))
    yield "\n## What differs, and why\n"
    yield paragraph(DIFFERS.format(data=data_text(study)))


def data_text(study):
    if study.options.data:
        return "The images are those of the folder given with --data, cut to a part of an epoch."
    return (f"The images are generated: {study.size.images:,} for training and "
            f"{study.size.validation:,} for validation, of {study.size.side} x {study.size.side} "
            "pixels in 1000 classes, without random crops.")


if __name__ == "__main__":
    reproduce("imagenet", __doc__, SIZES, page,
              more=[("--data", "folder with train/ and val/")])
