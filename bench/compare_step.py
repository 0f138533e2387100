#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Step time of convoy compared with PyTorch, alternately, in one session.

  bench/compare_step.py [--models lenet5,resnet18@32] [--batches 64] [--threads 1,2]
                        [--rounds 7] [--python FILE]

A model is measured on its usual images, or on square ones of the size after the @.

convoy is compared with Debian's PyTorch and with the PyTorch 2 that script/bootstrap bench
installs, or that of the interpreter that --python names. A round runs convoy, the first
PyTorch in all its forms, convoy, the second in all its forms, and convoy again; a
PyTorch's ratio is to the mean of the two convoy runs around it. Each convoy run probes the
machine's FMA speed before and after, and those probes frame a round.

PyTorch is tuned as its users would: as many threads as asked for (torch.set_num_threads,
and OpenBLAS's own number, which that does not reach), on several threads both with
OpenMP's usual spinning waits and without, of which the faster counts. Its forms are eager,
channels_last, and with PyTorch 2 also torch.compile of both. The form with the smallest
median counts, and all are in a second table; a form that fails is named there.

The rule for discarding rounds, fixed beforehand: a round counts only if its lowest probe
reaches 85 % of the highest probe of this whole run at that number of threads. What is
discarded is counted in the table. Ratios are taken round by round; the table shows the
median with the smallest and largest.
"""

import argparse
import datetime
import json
import pathlib
import platform
import re
import statistics
import subprocess
import sys

from torch_versions import installed_pythons, start_versions

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONVOY = ROOT / "build" / "convoy"
KEEP = 0.85
MODELS = "lenet5,cnn1,cnn2,mlp6,vgg11,fastnet,resnet18_cifar,resnet18@32,resnet18@224"


def model_and_image(case):
    model, _, image = case.partition("@")
    return model, int(image or 0)


def measure_convoy(case, batch, threads, seconds, *settings):
    model, image = model_and_image(case)
    command = [CONVOY, "bench", "step", f"model={model}", f"train.batch_size={batch}",
               f"cluster.threads={threads}", *settings, "--seconds", str(seconds), "--json"]
    if image:
        command += ["--image", str(image)]
    return json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def run_round(versions, case, batch, threads, seconds):
    """One of the case's rounds: `torch` has the times of each version by form, and `beside`
    convoy's time around it."""
    model, image = model_and_image(case)
    runs, torch, beside = [measure_convoy(case, batch, threads, seconds / 2)], {}, {}
    for version in versions:
        torch[version.name] = version.measure(
            model=model, image=image, batch_size=batch, seconds=seconds)
        runs.append(measure_convoy(case, batch, threads, seconds / 2))
        beside[version.name] = mean(run["step_ms"]["p50"] for run in runs[-2:])
    probes = [run[f"probe_gflops_{when}"] for run in runs for when in ("before", "after")]
    return {"torch": torch, "beside": beside, "probe": min(probes), "probes": probes,
            "convoy": mean(run["step_ms"]["p50"] for run in runs),
            "memory": mean(run["bandwidth_gb_per_s"]["all_threads"] for run in runs),
            **{kind: mean(run["gflops"][kind] for run in runs)
               for kind in ("effective", "real")}}


def mean(values):
    return statistics.fmean(values)


def describe(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}..{max(values):.2f})"


def is_time(value):
    return not isinstance(value, str)


def form_median(rounds, version, form):
    """Milliseconds; an error's text if the form has failed in any of the rounds."""
    values = [r["torch"][version][form] for r in rounds]
    errors = [value for value in values if not is_time(value)]
    return errors[0] if errors else statistics.median(values)


def best_form(rounds, version):
    """The form that counts, and its median."""
    medians = {form: form_median(rounds, version, form) for form in rounds[0]["torch"][version]}
    times = {form: value for form, value in medians.items() if is_time(value)}
    return min(times.items(), key=lambda item: item[1]) if times else (None, None)


def version_cells(rounds, version):
    form, milliseconds = best_form(rounds, version)
    if form is None:
        return ["failed", "-", "-"]
    ratios = [r["torch"][version][form] / r["beside"][version] for r in rounds]
    return [f"{milliseconds:.2f}", form, f"**{describe(ratios)}**"]


def table_row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def summary_row(case, rounds, kept):
    versions = rounds[0]["torch"]
    if not kept:
        return table_row([*case, "-", *["-"] * 3 * len(versions), "-", "-",
                          f"0 of {len(rounds)}", "-", "-"])
    middle = {key: statistics.median(r[key] for r in kept)
              for key in ("convoy", "probe", "memory", "effective", "real")}
    cells = [cell for version in versions for cell in version_cells(kept, version)]
    return table_row([*case, f"{middle['convoy']:.3f}", *cells, f"{middle['effective']:.0f}",
                      f"{middle['real']:.0f} ({middle['real'] / middle['probe']:.0%})",
                      f"{len(kept)} of {len(rounds)}", f"{middle['probe']:.0f}",
                      f"{middle['memory']:.1f}"])


def form_rows(case, kept, forms):
    """All forms of each version; a version without a form has a dash."""
    for version in kept[0]["torch"] if kept else []:
        medians = [form_median(kept, version, form) if form in kept[0]["torch"][version] else "-"
                   for form in forms]
        yield table_row([*case, version, *(f"{m:.2f}" if is_time(m) else m.replace("|", "/")
                                           for m in medians)])


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def machine_name():
    return "-".join(re.findall(r"[a-z0-9]+", processor().lower()))


def given_words():
    """The command line's arguments, without the name of anybody's home."""
    return " ".join(sys.argv[1:]).replace(str(pathlib.Path.home()), "~")


def heading(columns, left):
    """A table's first two lines; the columns named in `left` are not numbers."""
    return [table_row(columns), table_row(["---" if c in left else "---:" for c in columns])]


def best_probes(results):
    best = {}
    for (_, _, threads), rounds in results.items():
        probes = [p for r in rounds for p in r["probes"]]
        best[threads] = max(best.get(threads, 0), *probes)
    return best


def versions_of(results):
    """Names of the versions, with their forms."""
    first_round = next(iter(results.values()))[0]
    return {name: list(times) for name, times in first_round["torch"].items()}


def report(arguments, results):
    best, versions = best_probes(results), versions_of(results)
    kept = {case: [r for r in rounds if r["probe"] >= KEEP * best[case[2]]]
            for case, rounds in results.items()}
    convoy = subprocess.run([CONVOY, "--version"], capture_output=True, text=True).stdout
    forms = max(versions.values(), key=len)
    columns = [column for name in versions for column in (f"{name} ms", "form", "ratio")]
    case_columns = ["model", "batch", "threads"]
    lines = [
        f"# Training step: convoy beside {' and '.join(versions)}", "",
        f"{datetime.date.today()}, {processor()}, {convoy.splitlines()[0]}, by `script/bench "
        f"{' '.join(arguments)}`.", "",
        "Milliseconds are medians of the rounds kept, of the fastest form of each PyTorch; ratios",
        "are PyTorch's time over convoy's, round by round: median (smallest..largest). GFLOP/s are",
        "convoy's: effective as if it had computed the plain way, real as it did. A round is kept",
        f"if its lowest FMA probe is at least {KEEP:.0%} of the highest seen at that number of "
        "threads", "("
        + ", ".join(f"{t}: {p:.0f} GFLOP/s" for t, p in sorted(best.items())) + ").", "",
        *heading([*case_columns, "convoy ms", *columns, "effective GFLOP/s", "real (of probe)",
                  "rounds kept", "probe", "memory GB/s"], left=("model", "form"))]
    lines += [summary_row(case, rounds, kept[case]) for case, rounds in results.items()]
    lines += ["", "All forms, in milliseconds:", "",
              *heading([*case_columns, "version", *forms], left=("model", "version"))]
    lines += [row for case in results for row in form_rows(case, kept[case], forms)]
    return "\n".join(lines) + "\n"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--batches", default="64")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2, help="of each measurement")
    parser.add_argument("--python", type=pathlib.Path, metavar="FILE",
                        help="an interpreter with PyTorch, instead of script/bootstrap bench's")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the result (bench/results)")
    return parser.parse_args()


def main():
    options = parse_arguments()
    cases = [(model, int(batch), int(threads)) for model in options.models.split(",")
             for batch in options.batches.split(",") for threads in options.threads.split(",")]
    pythons = installed_pythons(options.python)
    versions = {threads: start_versions(pythons, threads)
                for threads in {case[2] for case in cases}}
    results = {case: [] for case in cases}
    for number in range(options.rounds):
        for case in cases:
            results[case].append(run_round(versions[case[2]], *case, options.seconds))
            print(f"round {number + 1}/{options.rounds} {case}: {results[case][-1]}",
                  file=sys.stderr)
    for version in (version for group in versions.values() for version in group):
        version.close()
    text = report(sys.argv[1:], results)
    print(text)
    folder = options.out or ROOT / "bench" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"step_{machine_name()}_{datetime.date.today()}.md").write_text(text)


if __name__ == "__main__":
    main()
