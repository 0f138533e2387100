# SPDX-License-Identifier: Apache-2.0
"""Installations of PyTorch that convoy is compared with, each in processes of its own."""

import json
import os
import pathlib
import subprocess
import sys

PEER = pathlib.Path(__file__).resolve().parent / "torch_peer.py"
DEBIAN_PYTHON = pathlib.Path("/usr/bin/python3")


def newer_python():
    """That of the virtual environment that script/bootstrap bench makes."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "convoy" / "torch" / "bin" / "python"


class TorchProcess:
    """A peer process, asked line by line."""

    def __init__(self, python, threads, **environment):
        counts = {name: str(threads) for name in
                  ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
        self.python = python
        self.process = subprocess.Popen(
            [str(python), str(PEER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **counts, **environment})
        self.about = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.python}: PyTorch's process has ended")
        return json.loads(line)

    def measure(self, **request):
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class TorchVersion:
    """One installation at one number of threads. On several threads it runs with OpenMP's
    usual spinning waits and without; the faster counts."""

    def __init__(self, python, threads):
        self.threads = threads
        self.processes = [TorchProcess(python, threads)]
        if threads > 1:
            self.processes.append(TorchProcess(python, threads, GOMP_SPINCOUNT="0"))
        about = self.processes[0].about
        self.name, self.forms = "PyTorch " + about["torch"].split("+")[0], about["forms"]

    def measure(self, **request):
        """By form: milliseconds of a step, or an error's text."""
        return {form: self.measure_form(form, request) for form in self.forms}

    def measure_form(self, form, request):
        answers = [process.measure(**request, threads=self.threads, form=form)
                   for process in self.processes]
        times = [answer["p50"] for answer in answers if "p50" in answer]
        return min(times) if times else answers[0]["error"]

    def close(self):
        for process in self.processes:
            process.close()


def start_versions(pythons, threads):
    versions = [TorchVersion(python, threads) for python in pythons]
    if len({version.name for version in versions}) < len(versions):
        sys.exit(f"{pythons[-1]}: it has {versions[0].name}, which is Debian's as well")
    return versions


def installed_pythons(chosen):
    """Interpreters to compare with: Debian's, and the chosen one or the newer if it is there."""
    other = chosen or newer_python()
    if other.exists():
        return [DEBIAN_PYTHON, other]
    if chosen:
        sys.exit(f"--python {chosen}: there is no such file")
    print(f"no {other}: PyTorch 2 is left out (script/bootstrap bench installs it)",
          file=sys.stderr)
    return [DEBIAN_PYTHON]
