# SPDX-License-Identifier: Apache-2.0
"""Runs Python scripts, each in a child of this process, which has imported PyTorch: importing it
takes longer than most scripts.

  torch_server.py FOLDER

Takes FOLDER/1.request, 2.request, ... one after another, writes 1.answer, 2.answer, ... and never
ends by itself. A request is {"folder": working folder, "arguments": [script, ...], "input": text},
an answer {"code": exit code, "out": text, "err": text}.
"""

import itertools
import json
import os
import pathlib
import runpy
import sys
import tempfile
import time
import traceback

# Threads that wait by spinning would take the cores from other tests. Read by the import of torch.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy  # noqa: E402, F401: imported for the scripts
import torch  # noqa: E402, F401


def run_script(arguments):
    """Returns the script's exit code."""
    sys.argv = arguments
    sys.path.insert(0, str(pathlib.Path(arguments[0]).parent))
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def run_child(request, files):
    os.chdir(request["folder"])
    for descriptor, file in enumerate(files):
        os.dup2(file.fileno(), descriptor)
    code = run_script(request["arguments"])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def text_of(file):
    file.seek(0)
    return file.read().decode(errors="replace")


def answer(request):
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, \
            tempfile.TemporaryFile() as err:
        given.write(request["input"].encode())
        given.seek(0)
        child = os.fork()
        if child == 0:
            run_child(request, (given, out, err))
        _, status = os.waitpid(child, 0)
        return {"code": os.waitstatus_to_exitcode(status), "out": text_of(out), "err": text_of(err)}


def main():
    folder = pathlib.Path(sys.argv[1])
    for number in itertools.count(1):
        request = folder / f"{number}.request"
        while not request.exists():
            time.sleep(0.002)
        part = folder / "part"
        part.write_text(json.dumps(answer(json.loads(request.read_text()))))
        part.rename(folder / f"{number}.answer")


if __name__ == "__main__":
    main()
