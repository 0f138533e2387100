#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Step time of convoy in fp32, amp_o2 and bf16, compared with PyTorch's in fp32 and bfloat16.

  bench/compare_precision.py [--cases vgg11:64,resnet18:16,vit_b_32:16] [--threads 2]
                             [--rounds 5] [--seconds 2] [--python FILE]
                             [--kernels avx512+amx,avx512+bf16]
                             [--slow-autocast] [--autocast-forms eager,channels_last]

A case is a model and its batch size, on the model's usual images; vgg11@64:32 takes larger ones.

--kernels measures bf16 with these kernels of convoy as well.

A round runs convoy in fp32, amp_o2 and bf16, then PyTorch in fp32 and under torch.autocast with
bfloat16, then convoy in the reverse order: each precision's time is the mean of two that lie
around the same moment. PyTorch is tuned as bench/compare_step.py says; the first round measures
all its forms, the next ones the form that was fastest. Without 16-bit instructions autocast's steps
may take minutes each. With --slow-autocast one step of it counts, without any to warm up, in the
first round alone and with OpenMP's usual waits alone; --autocast-forms eager leaves the other
forms out, --autocast-forms none all of them.

The rule for discarding rounds, fixed beforehand, is that of compare_step.py: a round counts only if
its lowest FMA probe reaches 85 % of the highest of the whole run. If none does, all count, and the
table says 0. Ratios are taken round by round: median (smallest..largest). The ratio of least times
is over all rounds, whatever their probes were.
"""

import argparse
import datetime
import pathlib
import statistics
import subprocess
import sys

from compare_step import (CONVOY, KEEP, ROOT, describe, given_words, heading, is_time, machine_name,
                          mean, measure_convoy, model_and_image, processor, table_row)
from torch_versions import DEBIAN_PYTHON, newer_python, start_versions

THEIRS = ("fp32", "bf16")


def our_ways(options):
    """Convoy's precisions, and bf16 with the kernels asked for: the settings of each."""
    ways = {name: [f"precision={name}"] for name in ("fp32", "amp_o2", "bf16")}
    for kernels in options.kernels.split(",") if options.kernels else []:
        ways[f"bf16, {kernels}"] = ["precision=bf16", f"network.kernels={kernels}"]
    return ways


class Round:
    """Milliseconds: `convoy` has a pair by way, `torch` has times by precision and form."""

    def __init__(self, case, forms, version, options):
        ways = our_ways(options)
        self.convoy, self.torch, self.probes = {name: [] for name in ways}, {}, []
        self.run_convoy(case, ways.items(), options)
        for precision in THEIRS:
            self.torch[precision] = torch_times(case, precision, forms[precision], version, options)
        self.run_convoy(case, reversed(ways.items()), options)

    def run_convoy(self, case, ways, options):
        for name, settings in ways:
            run = measure_convoy(*case, options.threads, options.seconds, *settings)
            self.convoy[name].append(run["step_ms"]["p50"])
            self.probes += [run["probe_gflops_before"], run["probe_gflops_after"]]

    def best_convoy(self, precision):
        return min(mean(times) for name, times in self.convoy.items()
                   if name.split(",")[0] == precision)

    def best_torch(self, precision):
        times = [time for time in self.torch[precision].values() if is_time(time)]
        return min(times) if times else None


def torch_times(case, precision, forms, version, options):
    """By form: milliseconds, or an error's text."""
    model, image = model_and_image(case[0])
    request = {"model": model, "image": image, "batch_size": case[1], "precision": precision,
               "seconds": options.seconds}
    if precision == "bf16" and options.slow_autocast:
        return {form: one_step(form, request, version) for form in forms}
    return {form: version.measure_form(form, request) for form in forms}


def one_step(form, request, version):
    answer = version.processes[0].measure(**request, threads=version.threads, form=form,
                                          warms_up=False)
    return answer.get("p50") or answer["error"]


def fastest(times):
    """The form to measure again; none if all failed."""
    found = {form: time for form, time in times.items() if is_time(time)}
    return [min(found, key=found.get)] if found else []


def autocast_forms(version, options):
    if options.autocast_forms == "none":
        return []
    return options.autocast_forms.split(",") if options.autocast_forms else version.forms


def run_rounds(case, version, options):
    forms, rounds = {"fp32": version.forms, "bf16": autocast_forms(version, options)}, []
    for number in range(options.rounds):
        rounds.append(Round(case, forms, version, options))
        if number == 0:
            forms = {name: fastest(times) for name, times in rounds[0].torch.items()}
            if options.slow_autocast:
                forms["bf16"] = []
        print(f"round {number + 1}/{options.rounds} {case}: {vars(rounds[-1])}", file=sys.stderr)
    return rounds


def counted(rounds, best_probe):
    return [r for r in rounds if min(r.probes) >= KEEP * best_probe]


def convoy_rows(case, rounds, best_probe):
    kept = counted(rounds, best_probe)
    taken = kept or rounds
    for name in rounds[0].convoy:
        ratios = [mean(r.convoy[name]) / mean(r.convoy["fp32"]) for r in taken]
        least = {n: min(time for r in rounds for time in r.convoy[n]) for n in (name, "fp32")}
        yield table_row([*case, "convoy", name,
                         f"{statistics.median(mean(r.convoy[name]) for r in taken):.1f}",
                         f"**{describe(ratios)}**", f"{least[name] / least['fp32']:.2f}", "-",
                         f"{len(kept)} of {len(rounds)}"])


def torch_rows(case, rounds, best_probe, version):
    for name in (name for name in THEIRS if rounds[0].torch[name]):
        measured = [r for r in rounds if r.best_torch(name) and r.best_torch("fp32")]
        kept = counted(measured, best_probe)
        taken = kept or measured
        if not taken:
            yield table_row([*case, version.name, f"{name}, failed", *["-"] * 5])
            continue
        times = [r.best_torch(name) for r in taken]
        beside = describe([r.best_torch(name) / r.best_convoy(name) for r in taken])
        yield table_row([*case, version.name, f"{name}, {fastest(measured[0].torch[name])[0]}",
                         f"{statistics.median(times):.1f}",
                         describe([r.best_torch(name) / r.best_torch("fp32") for r in taken]), "-",
                         f"**{beside}**", f"{len(kept)} of {len(measured)}"])


def form_rows(case, rounds, forms):
    for name, times in rounds[0].torch.items():
        found = (times.get(form, "-") for form in forms)
        yield table_row([*case, name, *(f"{time:.1f}" if is_time(time) else time.replace("|", "/")
                                        for time in found)])


def report(results, version, options):
    best = max(probe for rounds in results.values() for r in rounds for probe in r.probes)
    convoy = subprocess.run([CONVOY, "--version"], capture_output=True, text=True).stdout
    lines = [
        f"# Training step in 16 bits: convoy beside {version.name}", "",
        f"{datetime.date.today()}, {processor()}, {convoy.splitlines()[0]}, {options.threads} "
        f"thread(s), by `bench/compare_precision.py {given_words()}`.", "",
        "Milliseconds are medians of the rounds kept. Ratios are round by round: median "
        "(smallest..largest).", "PyTorch's bf16 is torch.autocast; of its forms the fastest "
        "counts, and of convoy's kernels for bf16 as well. A round is kept if its lowest FMA",
        f"probe is at least {KEEP:.0%} of the highest"
        f" ({best:.0f} GFLOP/s); if none is, all count.", "",
        *heading(["model", "batch", "who", "precision", "ms", "over its fp32", "least over least",
                  "PyTorch over convoy", "rounds kept"], left=("model", "who", "precision"))]
    for case, rounds in results.items():
        lines += [*convoy_rows(case, rounds, best), *torch_rows(case, rounds, best, version)]
    lines += ["", "All forms of PyTorch in the first round, in milliseconds:", "",
              *heading(["model", "batch", "precision", *version.forms],
                       left=("model", "precision"))]
    for case, rounds in results.items():
        lines += form_rows(case, rounds, version.forms)
    return "\n".join(lines) + "\n"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", default="vgg11:64,resnet18:16,vit_b_32:16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of each measurement")
    parser.add_argument("--python", type=pathlib.Path, default=newer_python(),
                        help="an interpreter with PyTorch (script/bootstrap bench's)")
    parser.add_argument("--kernels", help="kernels of convoy that bf16 is measured with as well")
    parser.add_argument("--slow-autocast", action="store_true",
                        help="measure PyTorch's bf16 by one step, in the first round")
    parser.add_argument("--autocast-forms", help="forms of PyTorch in bf16 (all)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench" / "results",
                        help="folder for the result")
    return parser.parse_args()


def main():
    options = parse_arguments()
    python = options.python if options.python.exists() else DEBIAN_PYTHON
    [version] = start_versions([python], options.threads)
    results = {}
    for model, batch in (case.split(":") for case in options.cases.split(",")):
        case = (model, int(batch))
        results[case] = run_rounds(case, version, options)
    version.close()
    text = report(results, version, options)
    print(text)
    options.out.mkdir(parents=True, exist_ok=True)
    models = "_".join(model for model, _ in results)
    name = f"precision_{models}_{machine_name()}_{datetime.date.today()}.md"
    (options.out / name).write_text(text)


if __name__ == "__main__":
    main()
