#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""svhn: six layers on SVHN, questions 1 to 8, and the least time to 90 %.

  script/reproduce svhn [--quick | --full] [--out FOLDER] [--write]

SVHN is taken where `convoy data get svhn --from FOLDER` has put it. Without it CIFAR-10, whose images
have the same shape, stands in, and the page says so.
"""

import dataclasses

import nodes
from common import Run, clock, paragraph, percent, reproduce, table


@dataclasses.dataclass(frozen=True)
class Size:
    images: int  # for training
    validation: int  # of the stand-in; SVHN's test set is taken as it is
    epochs: int
    contest: tuple  # of the stand-in: images, epochs at most, accuracy


SIZES = {"tiny": Size(640, 100, 2, (512, 1, 0.05)),
         "quick": Size(6400, 2000, 26, (8000, 4, 0.5)),
         "full": Size(50000, 10000, 40, (50000, 4, 0.9))}
# Of the published 40 epochs ten are at the first rate and ten at the second.
PARTS = (0.25, 0.5)
# Ten times the published one, whose epoch has 9,444 updates: with so few, a lower rate stays on the
# plateau.
RATE = 0.1

# (final validation accuracy, loss, seconds), by run; some times are read off plots.
PUBLISHED = {"batch_64": ("0.8807 / 0.4121", "6,100"), "batch_32": ("0.9026 / 0.3470", "8,050"),
             "batch_256": ("", "4,930"), "nodes_1": ("0.8831 / 0.4066", "9,700"),
             "nodes_2_per_node": ("0.8426 / 0.5377", "8,924"),
             "nodes_3_per_node": ("0.7512 / 0.8337", "5,723"),
             "processes_2_per_process": ("0.8422 / 0.5397", "6,473")}
CURVES = {"batch_64": ".196 .252 .406 .632 .747 .768 .802 .816 .835 .839",
          "batch_32": ".190 .687 .744 .813 .828 .837 .849 .857 .860 .874",
          "nodes_2_per_node": ".196 .196 .196 .221 .410 .396 .559 .653 .760 .765",
          "nodes_3_per_node": ".196 .196 .196 .196 .196 .267 .397 .440 .568 .614",
          "processes_2_per_process": ".196 .196 .196 .223 .333 .406 .596 .672 .744 .776"}


class Svhn:
    """The runs, by name. All have the same settings but for what their question asks."""

    def __init__(self, study):
        self.study = study
        self.is_svhn = study.accepts("data=svhn")
        size = study.size
        self.data = ["data=svhn", f"data.train_fraction={size.images / 604388:.6g}"] \
            if self.is_svhn else ["data=cifar10", f"data.split={size.images},0,{size.validation}"]

    def train(self, name, *settings, **more):
        epochs = self.study.size.epochs
        milestones = ",".join(str(round(part * epochs)) for part in PARTS)
        return self.study.train(
            name, "experiment=svhn_mlp6", *self.data, f"train.epochs={epochs}",
            f"schedule.milestones={milestones}", f"optimizer.lr={RATE}", "train.seed=0",
            "eval.before_training=true", *settings, **more)

    def alone(self, name, *settings):
        return self.train(name, *settings, "checkpoint.enabled=false")

    def on_nodes(self, count, batch, name):
        """A node has one thread, however many there are."""
        return self.train(name, f"train.batch_size={batch}", f"train.microbatches={count}",
                          "cluster.threads=1", "cluster.pin=false", "checkpoint.enabled=false",
                          nodes=count)

    def contest(self):
        if self.is_svhn:
            return self.study.train("contest", "experiment=svhn_90")
        images, epochs, goal = self.study.size.contest
        return self.study.train("contest", "experiment=cifar10_fast_90", "eval.every_epochs=1",
                                f"data.split={images},0,{self.study.size.validation}",
                                f"train.target_accuracy={goal}", f"train.epochs={epochs}")


def row(label, run):
    """Beside what was published of a run of this name."""
    last = run.evaluations()[-1]
    published = PUBLISHED.get(run.name, ("", ""))
    seconds = run.summary["seconds"]
    return [label, f"{seconds['total']:.1f}", f"{run.summary['images_per_second']:,.0f}",
            f"{run.cpu_percent():.0f} %", f"{run.peak_mebibytes:.0f}",
            f"{last['accuracy']:.4f} / {last['loss']:.4f}", published[1], published[0]]


HEADS = ("", "seconds", "images/s", "CPU of rank 0", "MiB", "accuracy / loss", "published s",
         "published accuracy / loss")


def question_1():
    yield "## 1. When a parameter server?\n"
    yield paragraph("""When workers differ in speed, come and go, or should not wait for each other: a
        server takes each gradient when it arrives (`strategy=ps_async`), where an all-reduce goes at the
        pace of the slowest. When all are alike, the all-reduce (`strategy=ddp`) has no single link
        through which everything passes, and no stale gradients. Both are measured in
        [asynchrony.md](../asynchrony.md) and [strategies.md](../strategies.md).""")


def questions_2_and_3(svhn):
    plain, saved = svhn.alone("batch_64"), svhn.train("checkpoints")
    yield "## 2. Completion time, CPU and memory; 3. the same with checkpoints\n"
    yield from table(HEADS, [row("without checkpoints", plain), row("with checkpoints", saved)])
    spent = saved.summary["seconds"]
    yield paragraph(
        f"Saving blocked training for {spent['checkpointing']:.2f} s in {saved.summary['epochs']} "
        f"epochs, {100 * spent['checkpointing'] / spent['total']:.1f} % of the run: a checkpoint is "
        "copied and then written by a thread while training continues. The published plots have "
        "spikes at each validation, when PyTorch's loader starts worker processes; here it has threads, "
        "which stay.")
    yield from svhn.study.charts("alone", [plain], ("cpu", "memory"))


def question_4(svhn):
    runs = [svhn.alone(f"batch_{batch}", f"train.batch_size={batch}") for batch in (32, 256)]
    yield "\n## 4. Batches of 32 and 256\n"
    yield from table(HEADS, [row(run.name, run) for run in runs])
    yield paragraph("Larger batches use the cores better, because a matrix product of 256 rows has more "
                    "work per weight that is read, and make fewer updates, so that they learn less in an "
                    "epoch at the same rate.")
    for run in runs:
        yield from svhn.study.charts(run.name, [run], ("cpu", "memory"))


def question_5(svhn):
    yield "\n## 5. TensorBoard\n"
    yield paragraph("Every run's folder has an event file with the graph of the model (Graphs), the curves "
                    "and the settings: `tensorboard --logdir OUT`. The layers:")
    text = svhn.study.command("models", "models", "mlp6", is_listed=False)
    yield "```text\n" + text.rstrip() + "\n```\n"


def question_6(svhn):
    runs = [("1 node, batch 64", svhn.on_nodes(1, 64, "nodes_1"))]
    for count in (2, 3):
        runs.append((f"{count} nodes, batch 64", svhn.on_nodes(count, 64, f"nodes_{count}")))
        runs.append((f"{count} nodes, 64 per node",
                     svhn.on_nodes(count, 64 * count, f"nodes_{count}_per_node")))
    yield "## 6. One, two and three nodes\n"
    yield from table(HEADS, [row(label, run) for label, run in runs])
    yield paragraph(f"The nodes are {nodes.where()}, of one thread each, on the cores named above: a third "
                    "node has no core of its own. A fair comparison keeps the batch of all nodes at 64: "
                    "then the result is the same and only time changes. 64 per node is what the published "
                    "runs have; it makes a half and a third of the updates.")
    yield from svhn.study.charts("master", [runs[1][1]], ("cpu", "memory"))


def question_7(svhn):
    two = svhn.train("processes_2", "-n", 2, "train.microbatches=2", "checkpoint.enabled=false")
    per_process = svhn.train("processes_2_per_process", "-n", 2, "train.batch_size=128",
                             "train.microbatches=2", "checkpoint.enabled=false")
    yield "\n## 7. Two processes per node\n"
    yield from table(HEADS, [row("2 processes, batch 64", two), row("2 processes, 64 each", per_process)])
    yield paragraph("Two processes of one thread each do the work of one process of two threads, and "
                    "exchange gradients through shared memory in addition.")
    yield from svhn.study.charts("processes", [two], ("cpu", "memory"))


def question_8(svhn, names):
    """Accuracies of the first ten epochs, beside the published ones."""
    yield "\n## 8. Convergence\n"
    rows = []
    for name in names:
        found = Run(svhn.study.out / name).evaluations()[1:11]
        rows.append([name, " ".join(f"{each['accuracy']:.3f}".lstrip("0") for each in found),
                     CURVES.get(name, "")])
    yield from table(("run", "convoy, accuracy after epochs 1 to 10", "published"), rows, left=3)
    yield paragraph("With 64 per node, several nodes make fewer updates per epoch, so what takes a number of "
                    "updates, such as leaving a plateau at chance, takes more epochs. With the batch of all "
                    "nodes kept at 64, the samples of every update are the same on one, two and three nodes.")
    picture = svhn.study.out / "convergence.svg"
    svhn.study.command("convergence", "compare", *[svhn.study.out / name for name in names], "--picture",
                       picture, is_listed=False)
    yield svhn.study.keep_picture(picture, "convergence", "accuracy by training time")


def contest(svhn):
    run = svhn.contest()
    target = run.summary["target"]
    reached = f"after {clock(target['seconds'])}, in epoch {target['epoch']}" if target["reached"] \
        else "not reached"
    yield f"\n## The contest: the least time to {percent(target['accuracy'], 0)}\n"
    yield paragraph(
        f"`{run.summary['model']}` on `{run.summary['data']}`, on all cores of one node: "
        f"{reached} ({percent(run.evaluations()[-1]['accuracy'])} then), with evaluations. No result of "
        "the course's contest was published.")


DIFFERS = """
{data} The published network sees 604,388 images per epoch, 9,444 updates at batch 64; here an epoch has
{images:,} images. So the rate begins at {rate} instead of 0.01 (with few updates a lower rate stays on the
plateau), and falls to a tenth after a quarter and after half of the epochs, as there. Samples are shuffled anew in every epoch (there the order of an epoch is always the
same), and loss and accuracy are means over samples (there over batches). Batches here count over all
processes (there per process: "64 per node" are those rows). Random numbers are convoy's own. Published
times are of other machines, on which a process used 4.5 to 9 cores.
"""


def page(study):
    svhn = Svhn(study)
    yield from study.head("a six-layer network on SVHN, and what saving, batches and nodes cost", """
        An assignment of the course EECS598 trains six hidden layers on SVHN on one node, then on several,
        and asks eight questions about it.""")
    if not svhn.is_svhn:
        yield paragraph("**SVHN is not on this machine: CIFAR-10 stands in.** Its images have the same shape, "
                        "so times, memory and traffic are comparable; accuracies are not: photographs are "
                        "harder for dense layers than digits.")
    yield from question_1()
    yield from questions_2_and_3(svhn)
    yield from question_4(svhn)
    yield from question_5(svhn)
    yield from question_6(svhn)
    yield from question_7(svhn)
    yield from question_8(svhn, ["batch_64", "batch_32", "batch_256", "nodes_1", "nodes_2", "nodes_3",
                                 "nodes_2_per_node", "nodes_3_per_node", "processes_2_per_process"])
    yield from contest(svhn)
    yield "## What differs, and why\n"
    data = "The data is SVHN's." if svhn.is_svhn else "CIFAR-10 stands in for SVHN."
    yield paragraph(DIFFERS.format(data=data, images=study.size.images, rate=RATE))


if __name__ == "__main__":
    reproduce("svhn", __doc__, SIZES, page, data="cifar10")
