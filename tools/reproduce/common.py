# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder share: runs of convoy that are made once, and the page about them.

A Study has a folder. `train` makes a run there, resumes one that was interrupted and leaves a
finished one alone, so that the same command, repeated, completes a study. Every command is kept in
commands.json and listed at the end of the page, from whose run folders all figures are read.
"""

import argparse
import dataclasses
import datetime
import functools
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from compare_step import processor  # noqa: E402
from nodes import TOKEN, nodes_of  # noqa: E402

DIVERGED = 79
TIMES = {"quick": "within 15 minutes on two cores", "full": "an hour or two on two cores",
         "tiny": "a rehearsal: its figures mean nothing"}


def options_of(project, document, more=()):
    """The options that all projects have, and those of one: (flag, help)."""
    parser = argparse.ArgumentParser(prog=f"script/reproduce {project}",
                                     description=document.split("\n")[0])
    for size, help_text in TIMES.items():
        parser.add_argument(f"--{size}", dest="size", action="store_const", const=size,
                            help=help_text)
    parser.add_argument("--out", type=pathlib.Path, help="folder of the runs and the page")
    parser.add_argument("--write", action="store_true", help="put the page into docs/reproduce")
    parser.add_argument("--convoy", type=pathlib.Path, default=ROOT / "build" / "convoy")
    for flag, help_text in more:
        parser.add_argument(flag, help=help_text)
    options = parser.parse_args()
    options.size = options.size or "quick"
    if options.write and options.size == "tiny":
        parser.error("--tiny has no figures to --write")
    options.out = (options.out or ROOT / "runs" / "reproduce" / f"{project}-{options.size}").resolve()
    options.convoy = options.convoy.resolve()
    return options


def say(text):
    print(f"reproduce: {text}", file=sys.stderr, flush=True)


def wait_for(processes):
    """Exit codes. Ctrl-C reaches the processes as well, SIGTERM is passed on: they save and end."""
    try:
        return [process.wait() for process in processes]
    except KeyboardInterrupt:
        return [process.wait() for process in processes]
    except SystemExit:
        for process in processes:
            process.terminate()
        return [process.wait() for process in processes]


class Run:
    """A run's folder, and what it says."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.name = self.folder.name

    @functools.cached_property
    def summary(self):
        return json.loads((self.folder / "summary.json").read_text())

    def is_finished(self):
        """A run that diverged is a result, too."""
        if not (self.folder / "summary.json").exists():
            return False
        return Run(self.folder).summary["exit"]["code"] in (0, DIVERGED)

    def records(self, kind):
        lines = (self.folder / "metrics.jsonl").read_text().splitlines()
        return [record for record in map(json.loads, lines) if record["kind"] == kind]

    def evaluations(self):
        """Those of the validation set, or without one those of the test set."""
        found = self.records("eval")
        return [record for record in found if record["split"] == "val"] or found

    def log(self):
        return (self.folder / "log.txt").read_text().splitlines()

    @property
    def step_seconds(self):
        """The mean, without the first step."""
        return self.summary["step_ms"]["mean"] / 1e3

    @property
    def accuracy(self):
        return (self.summary["test"] or {}).get("accuracy")

    @property
    def megabytes_sent(self):
        """Per step, of the rank that sends most."""
        sent = max(rank["bytes_sent"] for rank in self.summary["communication"])
        return sent / 1e6 / max(1, self.summary["steps"])

    @property
    def peak_mebibytes(self):
        return max(self.summary["peak_rss_bytes"]) / 2**20

    def cpu_percent(self, rank=0):
        """Of one core, mean over the rows of resources.csv."""
        lines = (self.folder / "resources.csv").read_text().splitlines()
        rows = [line.split(",") for line in lines[1:]]
        used = [float(row[2]) + float(row[3]) for row in rows if row[1] == str(rank)]
        return sum(used) / len(used) if used else float("nan")


@dataclasses.dataclass
class Made:
    name: str
    command: str


class Study:
    """The runs and the page of one project."""

    def __init__(self, project, document, sizes, more=()):
        self.options = options_of(project, document, more)
        self.project, self.out, self.convoy = project, self.options.out, self.options.convoy
        self.size = sizes[self.options.size]
        self.made = []
        self.begin = time.monotonic()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        (self.out / "pictures").mkdir(parents=True, exist_ok=True)

    # Commands.

    def shown(self, words):
        """A command as the page shows it: without places of this machine."""
        text = shlex.join(map(str, words))
        for place, name in ((self.out, "OUT"), (self.convoy, "convoy"), (ROOT, ".")):
            text = text.replace(str(place), name)
        data = getattr(self.options, "data", None)
        return text.replace(data, "DATA") if data else text

    def remember(self, name, words):
        """Refuses a folder in which the same name was made by another command."""
        kept = self.out / "commands.json"
        commands = json.loads(kept.read_text()) if kept.exists() else {}
        shown = self.shown(words)
        if commands.setdefault(name, shown) != shown:
            sys.exit(f"{self.out}: {name} was made by another command; choose another --out\n"
                     f"  then: {commands[name]}\n  now:  {shown}")
        kept.write_text(json.dumps(commands, indent=1) + "\n")
        if name not in [made.name for made in self.made]:
            self.made.append(Made(name, shown))

    def train(self, name, *settings, nodes=0, rate=None, environment=None):
        """Makes, resumes or finds the run. With `nodes` it runs on that many network namespaces,
        whose links have the rate, if namespaces can be made here."""
        words = ["train", *map(str, settings)]
        places = [*words, "--nnodes", nodes, "--node-rank", "I"] if nodes > 1 else words
        self.remember(name, ["convoy", *places])
        run = Run(self.out / name)
        if not run.is_finished():
            begin = time.monotonic()
            full = [self.convoy, *words, "--quiet", f"run.dir={self.out}", f"run.name={name}",
                    "train.resume=auto"]
            self.start(full, nodes, rate, {**os.environ, **(environment or {})}, run)
            say(f"{name}: {time.monotonic() - begin:.0f} s")
        return run

    def start(self, command, nodes, rate, environment, run):
        with nodes_of(nodes, rate) as prefixes:
            started = [subprocess.Popen([*prefix, *map(str, command), *flags], cwd=ROOT,
                                        stdout=subprocess.DEVNULL, env={**environment, **TOKEN})
                       for prefix, flags in prefixes]
            codes = wait_for(started)
        if not run.is_finished():
            sys.exit(f"{run.folder}: exit {codes}; the same command goes on where it stopped")

    def command(self, name, *words, environment=None, is_listed=True, result=None):
        """What a command of convoy prints; nothing if its result is there already."""
        if is_listed:
            self.remember(name, ["convoy", *words])
        if result and result.exists():
            return ""
        ran = subprocess.run([self.convoy, *map(str, words)], cwd=ROOT, text=True,
                             stdout=subprocess.PIPE, env={**os.environ, **(environment or {})})
        if ran.returncode not in (0, DIVERGED):
            sys.exit(f"convoy {self.shown(words)}: exit {ran.returncode}")
        return ran.stdout

    def sweep(self, name, *words, command="sweep"):
        """The rows of sweep.json; the command itself resumes."""
        begin = time.monotonic()
        self.command(name, command, *words, f"run.dir={self.out}", f"run.name={name}")
        say(f"{name}: {time.monotonic() - begin:.0f} s")
        return json.loads((self.out / name / "sweep.json").read_text())

    def accepts(self, *settings):
        """Whether a run with these settings could begin here; if not, why is said."""
        words = [self.convoy, "train", *map(str, settings), "--dry-run"]
        ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        if ran.returncode:
            say(f"not used, because this convoy refuses {shlex.join(settings)}:\n{ran.stderr}")
        return ran.returncode == 0

    # Pictures.

    def keep_picture(self, source, name, caption):
        """Copies a picture beside the page; an empty text if it was not drawn."""
        source = pathlib.Path(source)
        if not source.exists():
            return ""
        target = f"pictures/{self.project}_{name}{source.suffix}"
        shutil.copyfile(source, self.out / target)
        return f"![{caption}]({target})"

    def charts(self, name, runs, wanted):
        """Charts of `convoy report --pictures`, by name: loss, accuracy, cpu, memory, time."""
        folder = self.out / "charts" / name
        self.command(f"charts {name}", "report", *[run.folder for run in runs], "--pictures", folder,
                     "-o", self.out / f"{name}.html", is_listed=False)
        return [self.keep_picture(folder / f"{chart}.svg", f"{name}_{chart}", f"{name}: {chart}")
                for chart in wanted]

    # The page.

    def version(self):
        return self.command("version", "--version", is_listed=False).splitlines()[0]

    def head(self, title, introduction):
        size = self.options.size
        yield f"# {self.project}: {title}\n"
        yield paragraph(introduction)
        yield paragraph(
            f"By `script/reproduce {self.project} --{size}` ({TIMES[size]}), "
            f"{datetime.date.today()}, {self.version()}, {processor()}, "
            f"{len(os.sched_getaffinity(0))} cores. Every figure that is not marked as published "
            "comes from a run folder of the list at the end.")

    def foot(self):
        yield "## The runs\n"
        yield paragraph("`run.dir`, `run.name` and `train.resume=auto` are given as well; OUT is "
                        "the folder of the study, and each run's folder in it has the run's name.")
        yield from table(("run", "command"), [(f"`{made.name}`", f"`{made.command}`")
                                              for made in self.made], left=2)

    def seconds_spent(self):
        """By this command, with those before that it goes on from, if they were completed."""
        file = self.out / "seconds.json"
        before = json.loads(file.read_text()) if file.exists() else 0
        spent = before + time.monotonic() - self.begin
        file.write_text(json.dumps(spent))
        return spent

    def write(self, lines):
        """Writes the page beside the runs, and with --write into docs/reproduce."""
        lines = [*lines, *self.foot(), paragraph(f"All of it took {clock(self.seconds_spent())}.")]
        text = "\n".join(line for line in lines if line is not None)
        page = self.out / f"{self.project}.md"
        page.write_text(text.rstrip() + "\n")
        if self.options.write:
            self.publish(page)
        say(f"{page}, after {time.monotonic() - self.begin:.0f} s")

    def publish(self, page):
        target = ROOT / "docs" / "reproduce"
        (target / "pictures").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, target / page.name)
        for picture in (self.out / "pictures").iterdir():
            shutil.copyfile(picture, target / "pictures" / picture.name)


# Text.


def paragraph(text):
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False,
                         break_on_hyphens=False) + "\n"


def table(heads, rows, left=1):
    """Markdown; the first `left` columns are text."""
    yield f"| {' | '.join(heads)} |"
    yield "|" + " --- |" * left + " ---: |" * (len(heads) - left)
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"
    yield ""


def percent(share, digits=2):
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def clock(seconds):
    """1:02:03, 2:03 or 9.9 s."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def block(lines):
    """Lines as they were printed."""
    return "\n".join(["```text", *lines, "```\n"])


def reproduce(project, document, sizes, page, data=None, more=()):
    """A script's main function. `page` takes the study and yields the lines of its page; `data` is a
    dataset that has to be on this machine."""
    study = Study(project, document, sizes, more)
    if data:
        study.command("data", "data", "get", data, is_listed=False)
    study.write(page(study))
