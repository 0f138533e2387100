# SPDX-License-Identifier: Apache-2.0
"""Charts as SVG, drawn by gnuplot: panels side by side, with lines or bars.

Texts reach gnuplot as letters, blanks and octal numbers only, as those of convoy/plot do."""

import dataclasses
import pathlib
import subprocess
import tempfile

# Okabe and Ito's palette, which people with any colour vision tell apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c8c8c")
WIDTH, HEIGHT = 330, 230  # of a panel's frame
LEFT, TOP, BOTTOM, GAP = 60, 40, 58, 70
LEGEND_ROW = 18
SECONDS = 60  # for gnuplot


@dataclasses.dataclass
class Series:
    name: str
    points: list  # (place on the x axis, y, deviation)
    colour: str = COLOURS[0]
    dashed: bool = False


@dataclasses.dataclass
class Panel:
    title: str
    x_label: str
    ticks: list  # texts at places 0, 1, 2 ...
    lines: list = dataclasses.field(default_factory=list)
    bars: list = dataclasses.field(default_factory=list)  # (place, height)
    y_label: str = ""
    top: float = 100
    y_step: float = 20


def quoted(text):
    """A string in gnuplot's syntax, in which nothing of the text means anything."""
    plain = [chr(byte) if chr(byte).isalpha() and byte < 128 or byte == 32 else f"\\{byte:03o}"
             for byte in text.encode()]
    return '"' + "".join(plain) + '"'


def tick(text):
    return quoted(text.replace("%", "%%"))


class Picture:
    """Commands for gnuplot, with places in pixels from the left and upper edges."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.commands = [
            f"set terminal svg noenhanced size {width},{height} font 'sans-serif,12' "
            "background rgb 'white'",
            "set encoding utf8", "unset key", "set tics nomirror",
            "set grid y linecolor rgb '#dddddd'", "set style fill solid noborder"]

    def place(self, x, y):
        return f"screen {x / self.width},screen {1 - y / self.height}"

    def label(self, x, y, text, style="center"):
        self.commands.append(f"set label {quoted(text)} at {self.place(x, y)} {style}")

    def line(self, series, x, y):
        dashes = "(5,4)" if series.dashed else "1"
        self.commands.append(f"set arrow from {self.place(x, y)} to {self.place(x + 26, y)} nohead "
                             f"linecolor rgb '{series.colour}' linewidth 2 dashtype {dashes}")

    def block(self, name, rows):
        self.commands += [f"${name} << END", *(" ".join(map(str, row)) for row in rows), "END"]


def frame(picture, panel, left):
    """The panel's axes; labels and arrows of the panel before it are gone."""
    shown = max(1, len(panel.ticks) // 11)
    ticks = ", ".join(f"{tick(text)} {place}" for place, text in enumerate(panel.ticks)
                      if place % shown == 0)
    picture.commands += [
        "unset label", "unset arrow",
        f"set lmargin at screen {left / picture.width}",
        f"set rmargin at screen {(left + WIDTH) / picture.width}",
        f"set tmargin at screen {1 - TOP / picture.height}",
        f"set bmargin at screen {1 - (TOP + HEIGHT) / picture.height}",
        f"set xrange [-0.5:{len(panel.ticks) - 0.5}]", f"set yrange [0:{panel.top}]",
        f"set xtics scale 0 ({ticks})", f"set ytics {panel.y_step}"]
    picture.label(left + WIDTH / 2, TOP - 16, panel.title, "center font ',14'")
    picture.label(left + WIDTH / 2, TOP + HEIGHT + 38, panel.x_label)
    picture.label(left - 42, TOP + HEIGHT / 2, panel.y_label, "center rotate")


def plots(picture, panel, number):
    """Bars and lines, whose data is in blocks named after the panel's number."""
    found = ["NaN"]
    if panel.bars:
        picture.block(f"bars{number}", panel.bars)
        found.append(f"$bars{number} using 1:2:(0.9) with boxes linecolor rgb '{COLOURS[0]}'")
    for i, series in enumerate(panel.lines):
        if not series.points:
            continue
        name = f"line{number}_{i}"
        picture.block(name, series.points)
        colour = f"linecolor rgb '{series.colour}'"
        dashes, point = ("(5,4)", 6) if series.dashed else ("1", 7)
        found += [f"${name} using 1:2 with linespoints {colour} linewidth 2 dashtype {dashes} "
                  f"pointtype {point} pointsize 0.6",
                  f"${name} using 1:($2-$3):(0):(2*$3) with vectors nohead {colour} linewidth 1.5"]
    return "plot " + ", ".join(found)


def legend(picture, named, top):
    for row, series in enumerate(named):
        picture.line(series, LEFT, top + row * LEGEND_ROW)
        picture.label(LEFT + 34, top + row * LEGEND_ROW, series.name, "left")


def commands(panels):
    named = list({line.name: line for panel in panels for line in panel.lines}.values())
    below = TOP + HEIGHT + BOTTOM
    picture = Picture(LEFT + len(panels) * (WIDTH + GAP) - GAP + 20,
                      below + len(named) * LEGEND_ROW + 6)
    picture.commands.append("set multiplot")
    for i, panel in enumerate(panels):
        frame(picture, panel, LEFT + i * (WIDTH + GAP))
        if i == 0:
            legend(picture, named, below + LEGEND_ROW / 2)
        picture.commands.append(plots(picture, panel, i))
    picture.commands.append("unset multiplot")
    return picture.commands


def draw(panels, file):
    """Writes the picture completely or not at all."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = pathlib.Path(folder).resolve() / "picture"
        terminal, *rest = commands(panels)
        script = "\n".join([terminal, f"set output {quoted(str(drawn))}", *rest, "set output", ""])
        subprocess.run(["gnuplot", "--default-settings", "-"], input=script.encode(), check=True,
                       timeout=SECONDS)
        beside = file.with_name(f".{file.name}.new")
        beside.write_bytes(drawn.read_bytes())
        beside.replace(file)
