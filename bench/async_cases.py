# SPDX-License-Identifier: Apache-2.0
"""The runs of the study of asynchronous SGD, with what was published of them.

Published numbers are those of the EPFL project of 2023 (Junod, Lamour, Reategui): its report
and summaries. A range is of several of its runs; NC is its "not converged", all one class.
Its compensation never acted (docs/asynchrony.md), so it has no published row here.
"""

import dataclasses

# Of configs/experiment/fashion_async.yaml:
COMPUTE_MS = 18
BATCH = 32
EXPERIMENT = {"data.partition": "iid", "optimizer.lr": 0.005, "optimizer.momentum": 0.9,
              "train.epochs": 6, "inject.delay": 0, "inject.delay_kind": "constant",
              "ps.compensation": "none", "sim.compute_sigma": 0.1}

WORKERS = (2, 5, 10)


@dataclasses.dataclass(frozen=True)
class Case:
    """One row of a table: settings over those of fashion_async, and what was published."""
    group: str
    label: str
    workers: int
    settings: tuple = ()
    published: str = ""
    published_time: str = ""
    quick: bool = False


def case(group, label, workers, published="", published_time="", quick=False, **settings):
    """A double underscore in a name stands for the dot."""
    named = tuple((name.replace("__", "."), value) for name, value in settings.items())
    return Case(group, label, workers, named, published, published_time, quick)


def by_workers():
    yield case("workers", "alone", 1, "89.20", "2:56-3:11", quick=True)
    published = {("iid", 2): ("89.0", "1:40"), ("iid", 5): ("88.48", "18:36"),
                 ("iid", 10): ("84.55-86.92", "19:40"), ("labels", 2): ("85.5-86.8", "1:39"),
                 ("labels", 5): ("76.37", "18:51"), ("labels", 10): ("71.43, 10.00", "")}
    for (partition, workers), found in published.items():
        yield case("workers", partition, workers, *found, quick=workers != 5,
                   data__partition=partition)


def shared():
    published = {2: ("89.71", "3:12"), 5: ("89.27", "88:56"), 10: ("88.20", "190:35")}
    for workers, found in published.items():
        yield case("shared", "shared", workers, *found, data__partition="shared")


def synchronous(partition, workers, found, group):
    """A batch is of one update over all workers: theirs times the workers."""
    return case(group, f"ps_sync, {partition}", workers, *found, strategy="ps_sync",
                data__partition=partition, train__batch_size=BATCH * workers,
                train__microbatches=workers, sim__compute_ms=COMPUTE_MS * workers)


def sync():
    published = {("iid", 2): ("87.54-88.21", "2:14-2:29"), ("iid", 5): ("86.10", "20:54"),
                 ("iid", 10): ("84.79-85.23", "25:00"),
                 ("labels", 2): ("87.94-88.77", "2:05"), ("labels", 5): ("87.46", "21:17"),
                 ("labels", 10): ("85.03-85.59", "25:00")}
    for (partition, workers), found in published.items():
        yield synchronous(partition, workers, found, "sync")


def sync_shared():
    published = {2: ("89.47", "4:15"), 5: ("90.49", "150:55"), 10: ("90.53", "270:42")}
    for workers, found in published.items():
        yield synchronous("shared", workers, found, "sync_shared")


# Its table II: constant delay, momentum 0.9, by workers 2, 5, 10.
TABLE_2 = {
    ("delay", 30, "iid"): ("88.97", "88.54", "86.92"),
    ("delay", 60, "iid"): ("89.27", "88.57", "NC"),
    ("delay", 90, "iid"): ("88.49", "88.53", "83.97"),
    ("delay", 30, "labels"): ("82.04", "75.25", "63.5"),
    ("delay", 60, "labels"): ("87.82", "75.51", "60.83"),
    ("delay", 90, "labels"): ("88.86", "80.4", "68.12"),
    ("slow_worker", 30, "iid"): ("89.26", "87.8", "87.24"),
    ("slow_worker", 60, "iid"): ("88.70", "88.15", "85.40"),
    ("slow_worker", 90, "iid"): ("89.47", "87.79", "77.54"),
    ("slow_worker", 30, "labels"): ("60.8", "39.37", "65.27"),
    ("slow_worker", 60, "labels"): ("61.95", "58.28", "63.5"),
    ("slow_worker", 90, "labels"): ("59.62", "69.74", "51.91"),
}


def table_2(group):
    slow = {"inject__slow_rank": 0} if group == "slow_worker" else {}
    for (which, delay, partition), row in TABLE_2.items():
        if which != group:
            continue
        for workers, found in zip(WORKERS, row):
            yield case(group, f"{partition}, {delay} ms", workers, found,
                       quick=(delay, workers) == (30, 2), data__partition=partition,
                       inject__delay=delay, **slow)


def momentum():
    """Gaussian delay to all, 30 ms."""
    published = {2: ("83.6", "86.2", "88.7", "10"), 5: ("83.8", "86.6", "88.0", "10"),
                 10: ("83.4", "86.6", "85.6", "10")}
    for workers, row in published.items():
        for value, found in zip((0, 0.5, 0.9, 0.99), row):
            yield case("momentum", f"momentum {value}", workers, found,
                       "4:02" if workers == 2 else "", quick=workers == 2, inject__delay=30, inject__delay_kind="gaussian",
                       optimizer__momentum=value)


def slow_momentum():
    """Its table III; 0.9 is in slow_worker."""
    published = {2: ("53.6", "54.1", "37.5"), 5: ("54.9", "52.5", "NC"),
                 10: ("64.0", "68.4", "NC")}
    for workers, row in published.items():
        for value, found in zip((0, 0.5, 0.99), row):
            yield case("slow_momentum", f"labels, momentum {value}", workers, found,
                       data__partition="labels", inject__delay=30, inject__slow_rank=0,
                       optimizer__momentum=value)


def same_pace():
    """Learning rate / (1 - momentum) stays the same."""
    for workers in (1, 2, 10):
        for value, rate in ((0, 0.05), (0.5, 0.025), (0.9, 0.005), (0.99, 0.0005)):
            yield case("same_pace", f"momentum {value}, rate {rate}", workers, inject__delay=30,
                       inject__delay_kind="gaussian", optimizer__momentum=value,
                       optimizer__lr=rate)


def compensation():
    for partition, delay in (("iid", 30), ("iid", 90), ("labels", 90)):
        for kind in ("none", "dc_asgd", "dc_asgd_adaptive"):
            yield case("compensation", f"{partition}, {delay} ms, {kind}", 10,
                       data__partition=partition, inject__delay=delay, ps__compensation=kind)


def strength():
    for kind, strengths in (("dc_asgd", (0.04, 0.5, 8)), ("dc_asgd_adaptive", (0.02, 0.2))):
        for value in strengths:
            yield case("strength", f"iid, 90 ms, {kind}, lambda {value}", 10,
                       data__partition="iid", inject__delay=90, ps__compensation=kind,
                       ps__lambda=value)


def scaled_rate():
    for partition in ("iid", "labels"):
        yield case("scaled_rate", f"{partition}, rate / staleness", 10,
                   data__partition=partition, inject__delay=30,
                   inject__delay_kind="gaussian", ps__scale_rate="true")


def bound():
    for workers in (2, 10):
        for value in (4, 1, 0):
            yield case("bound", f"labels, worker 0 slower, bound {value}", workers,
                       data__partition="labels", inject__delay=30, inject__slow_rank=0,
                       ps__max_staleness=value)
    for value in (4, 1, 0):
        yield case("bound", f"iid, worker 0 slower, bound {value}", 10,
                   data__partition="iid", inject__delay=30, inject__slow_rank=0,
                   ps__max_staleness=value)


def stragglers():
    kinds = (("pareto", 30), ("on_off", 90))
    for kind, delay in kinds:
        for partition in ("iid", "labels"):
            yield case("stragglers", f"{partition}, {kind} {delay} ms", 10,
                       data__partition=partition, inject__delay=delay,
                       inject__delay_kind=kind)


def jitter():
    for sigma in (0, 0.02, 0.1, 0.5):
        yield case("jitter", f"labels, deviation {sigma} of a batch's time", 10,
                   data__partition="labels", sim__compute_sigma=sigma)


def many():
    """Without delay the mean staleness is the number of the other workers."""
    for label, settings in (("momentum 0.9", {}), ("momentum 0", {"optimizer__momentum": 0}),
                            ("momentum 0.9, rate / staleness", {"ps__scale_rate": "true"})):
        for workers in (1, 2, 5, 10, 20, 50, 100):
            yield case("many", label, workers, **settings)


def thousand():
    yield case("thousand", "iid, gaussian 30 ms, 1 epoch", 1000, train__epochs=1,
               inject__delay=30, inject__delay_kind="gaussian")


# Those that several seeds have to bear out.
REPEATED = {"workers", "momentum", "same_pace", "compensation", "strength", "scaled_rate", "bound",
            "jitter"}

GROUPS = {
    "workers": ("Workers and partition, no delay", by_workers),
    "delay": ("The same delay for all", lambda: table_2("delay")),
    "slow_worker": ("A delay for all, worker 0 twice as long",
                    lambda: table_2("slow_worker")),
    "momentum": ("Momentum, gaussian delay of 30 ms", momentum),
    "slow_momentum": ("Momentum, labels, 30 ms and worker 0 twice as long", slow_momentum),
    "same_pace": ("Momentum with the same rate / (1 - momentum), gaussian 30 ms", same_pace),
    "compensation": ("Compensation, 10 workers", compensation),
    "strength": ("Strength of the compensation", strength),
    "scaled_rate": ("A rate divided by the staleness, gaussian 30 ms", scaled_rate),
    "bound": ("A bound on how far a worker may be ahead, 30 ms", bound),
    "stragglers": ("Heavy tails and spells", stragglers),
    "jitter": ("Even and uneven workers, no delay", jitter),
    "many": ("More and more workers, iid, no delay", many),
    "sync": ("Synchronous", sync),
    "thousand": ("A thousand workers", thousand),
    "shared": ("Every worker goes through everything", shared),
    "sync_shared": ("The same, synchronous", sync_shared),
}
