#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a GoogleTest program, one process per test suite, several at a time.

    run_tests.py PROGRAM [--jobs N] [--filter PATTERN] [--slowest N]

One process per suite instead of one per test saves the start of thousands of processes. The
suites that took longest in the last run start first, so that none of them is left to the end;
their times are stored next to the program. The last line is "N passed, N failed, N skipped"; the
exit code is 1 if a test failed or a process ended otherwise.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_SECONDS = 600  # one suite
OUTCOME = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:,? .*)? \((\d+) ms\)$", re.MULTILINE)


def suites(program, pattern):
    """The names of all suites that have a test of the pattern, in the program's order."""
    listing = subprocess.run([program, "--gtest_list_tests", "--gtest_filter=" + pattern],
                             check=True, capture_output=True, text=True).stdout
    return [line.split()[0] for line in listing.splitlines()
            if line and not line.startswith(" ") and line.split()[0].endswith(".")]


def tests_of(suite, pattern):
    """A filter for the tests of one suite that the pattern takes too."""
    if pattern == "*":
        return suite + "*"
    positive, _, negative = pattern.partition("-")
    kept = [part for part in positive.split(":") if part.startswith(suite)]
    return ":".join(kept or [suite + "*"]) + ("-" + negative if negative else "")


def run(program, suite, pattern):
    """Runs one suite. Returns what it printed, its exit code and its seconds."""
    begin = time.monotonic()
    with tempfile.TemporaryFile(mode="w+", errors="replace") as output:
        process = subprocess.Popen([program, "--gtest_filter=" + tests_of(suite, pattern)],
                                   stdout=output, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL)
        try:
            code = process.wait(LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        output.seek(0)
        return output.read(), code, time.monotonic() - begin


class Tally:
    """Counts outcomes and keeps what failed."""

    def __init__(self):
        self.counts = {"OK": 0, "FAILED": 0, "SKIPPED": 0}
        self.failures = []
        self.skipped = []
        self.milliseconds = {}

    def add(self, suite, text, code):
        found = OUTCOME.findall(text)
        for outcome, test, milliseconds in found:
            self.counts[outcome] += 1
            self.milliseconds[test] = int(milliseconds)
        failed = [test for outcome, test, _ in found if outcome == "FAILED"]
        self.skipped += [test for outcome, test, _ in found if outcome == "SKIPPED"]
        if code != 0 and not failed:  # ended by a signal, or before its first test
            failed = [f"{suite}: exit code {code}"]
            self.counts["FAILED"] += 1
        if failed:
            self.failures += failed
            print(f"---- {suite} ended with {code}\n{text}", flush=True)

    def print_slowest(self, count):
        for test, milliseconds in sorted(self.milliseconds.items(), key=lambda t: -t[1])[:count]:
            print(f"{milliseconds / 1000:8.2f} s  {test}")


def known_times(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--filter", default="*")
    parser.add_argument("--slowest", type=int, default=10, help="how many tests to list at the end")
    options = parser.parse_args()
    # A shell starts background commands with SIGINT ignored, and tests send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    times_file = pathlib.Path(options.program + ".times.json")
    times = known_times(times_file)
    names = sorted(suites(options.program, options.filter), key=lambda s: -times.get(s, 0))
    tally, done = Tally(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(run, options.program, name, options.filter): name for name in names}
        for future in concurrent.futures.as_completed(running):
            suite, (text, code, seconds) = running[future], future.result()
            times[suite], done = round(seconds, 2), done + 1
            tally.add(suite, text, code)
            print(f"[{done}/{len(names)}] {suite[:-1]} {seconds:.1f} s", flush=True)
    times_file.write_text(json.dumps(times, indent=0))
    tally.print_slowest(options.slowest)
    for test in tally.skipped:
        print("SKIPPED", test)
    for failure in tally.failures:
        print("FAILED", failure)
    counts = tally.counts
    print(f"{counts['OK']} passed, {counts['FAILED']} failed, {counts['SKIPPED']} skipped")
    return 1 if tally.failures or counts["OK"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
