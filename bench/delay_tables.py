#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The delay study as tables, next to the published numbers.

  convoy sweep sweep=async_delays           # 288 runs under the virtual clock
  convoy sweep sweep=async_slow_worker      # 72 runs
  bench/delay_tables.py runs/async_delays runs/async_slow_worker [--out FILE]

A study that was interrupted, or had fewer combinations, is shown as far as it has come: a combination
that is missing is an empty cell, and a row of empty cells is left out.
"""

import argparse
import collections
import datetime
import json
import pathlib
import re
import statistics

from async_cases import TABLE_2, WORKERS, momentum, slow_momentum
from compare_step import processor

MOMENTA = ("0", "0.5", "0.9", "0.99")
DELAYS = ("30", "60", "90")
COLLAPSED = 0.11  # of ten classes: says the same of nearly all

# What tells one row of a study from another, without seeds.
NAMES = ("inject.delay_kind", "data.partition", "inject.delay", "optimizer.momentum",
         "cluster.nproc_per_node", "ps.compensation")
# What the file of a study leaves to the experiment.
DEFAULTS = {"inject.delay_kind": "constant", "ps.compensation": "none"}


def accuracies(folder):
    """Shares by the values of NAMES; a run that diverged is as good as chance."""
    found = collections.defaultdict(list)
    study = json.loads((folder / "sweep.json").read_text())
    given = {**DEFAULTS, **dict(re.findall(r"([a-z_.]+)=(\S+)", study["groups"][0]["command"]))}
    for row in study["rows"]:
        if row["state"] in ("done", "diverged"):
            key = tuple({**given, **row["values"]}.get(name) for name in NAMES)
            found[key].append(row["test"]["accuracy"] if row["test"] else 0.1)
    return found


def published():
    """By study, kind, partition, delay, momentum and workers."""
    numbers = {}
    for (study, delay, partition), row in TABLE_2.items():
        for workers, found in zip(WORKERS, row):
            numbers[study, "constant", partition, str(delay), "0.9", workers] = found
    for cases, study, kind, partition in ((momentum(), "delay", "gaussian", "iid"),
                                          (slow_momentum(), "slow_worker", "constant", "labels")):
        for case in cases:
            value = str(dict(case.settings)["optimizer.momentum"])
            numbers[study, kind, partition, "30", value, case.workers] = case.published
    return numbers


def cell(shares, beside=""):
    if not shares:
        return ""
    fallen = sum(share <= COLLAPSED for share in shares)
    text = f"{100 * statistics.fmean(shares):.2f}" if not fallen else f"10 ({fallen} of {len(shares)})"
    if len(shares) > 1 and not fallen:
        text += f" ± {100 * statistics.stdev(shares):.2f}"
    return f"{text} [{beside}]" if beside else text


def table(study, found, kind, partition, known):
    kinds = [each for each in ("none", "dc_asgd") if any(key[-1] == each for key in found)]
    counts = [workers for workers in WORKERS if any(key[-2] == str(workers) for key in found)]
    heads = [f"{workers} workers{'' if each == 'none' else ', ' + each}"
             for each in kinds for workers in counts]
    yield f"| delay | momentum | {' | '.join(heads)} |"
    yield f"| ---: | ---: |{' ---: |' * len(heads)}"
    for delay in DELAYS:
        for value in MOMENTA:
            cells = [cell(found.get((kind, partition, delay, value, str(workers), each), []),
                          known.get((study, kind, partition, delay, value, workers), "")
                          if each == "none" else "")
                     for each in kinds for workers in counts]
            if any(cells):
                yield f"| {delay} ms | {value} | {' | '.join(cells)} |"


def report(studies):
    runs = sum(len(shares) for found in studies.values() for shares in found.values())
    seeds = {len(shares) for found in studies.values() for shares in found.values()}
    yield "# Delays, partitions, momenta and compensation, under the virtual clock"
    yield (f"\n{datetime.date.today()}, {processor()}, by `bench/delay_tables.py` from {runs} runs of "
           f"`convoy sweep`; seeds of a cell: {', '.join(map(str, sorted(seeds)))}. Fashion-MNIST, "
           "LeNet-5, learning rate 0.005, batch 32, 6 epochs. Test accuracy in %, after the last "
           "update; in brackets what the async project published, of one run each (NC and 10: all one "
           "class). Its compensation never acted, so nothing published stands beside it.")
    known = published()
    for study, title in (("delay", "The same delay for all"),
                         ("slow_worker", "Worker 0 twice as long")):
        for kind in ("constant", "gaussian"):
            for partition in ("iid", "labels"):
                found = studies.get(study, {})
                if any(key[:2] == (kind, partition) for key in found):
                    yield f"\n## {title}, {kind}, {partition}\n"
                    yield from table(study, found, kind, partition, known)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("delays", type=pathlib.Path, help="folder of the study async_delays")
    parser.add_argument("slow", type=pathlib.Path, nargs="?", help="of async_slow_worker")
    parser.add_argument("--out", type=pathlib.Path, help="file for the tables")
    options = parser.parse_args()
    studies = {"delay": accuracies(options.delays)}
    if options.slow:
        studies["slow_worker"] = accuracies(options.slow)
    text = "\n".join(report(studies))
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
