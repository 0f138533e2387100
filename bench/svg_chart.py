# SPDX-License-Identifier: Apache-2.0
"""Small charts as SVG: panels side by side, with lines or bars."""

import dataclasses
import html

COLOURS = ("#1f6fb2", "#d1603d", "#3c8d5a", "#8a5fb0", "#7a7a7a")
WIDTH, HEIGHT = 330, 230  # of a panel's frame
LEFT, TOP, BOTTOM, GAP = 52, 46, 46, 64
LEGEND_ROW = 18


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


def text(x, y, content, anchor="middle", size=12, more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" {more}>'
            f'{html.escape(content)}</text>')


class Frame:
    """Where a panel's numbers lie on the page."""

    def __init__(self, panel, left):
        self.panel, self.left = panel, left

    def x(self, place):
        return self.left + (place + 0.5) * WIDTH / len(self.panel.ticks)

    def y(self, value):
        return TOP + HEIGHT * (1 - value / self.panel.top)

    def axes(self):
        panel, right = self.panel, self.left + WIDTH
        value = 0
        while value <= panel.top * 1.0001:
            y = self.y(value)
            yield f'<path d="M{self.left} {y:.1f}H{right}" stroke="#ddd"/>'
            yield text(self.left - 6, y + 4, f"{value:g}", "end", 11)
            value += panel.y_step
        every = max(1, len(panel.ticks) // 11)
        for place, tick in enumerate(panel.ticks):
            if place % every == 0:
                yield text(self.x(place), TOP + HEIGHT + 16, tick, size=11)
        yield text(self.left + WIDTH / 2, TOP + HEIGHT + 36, panel.x_label)
        yield text(self.left + WIDTH / 2, TOP - 12, panel.title, size=13, more='font-weight="bold"')
        middle = TOP + HEIGHT / 2
        turned = f'transform="rotate(-90 {self.left - 36} {middle})"'
        yield text(self.left - 36, middle, panel.y_label, more=turned)

    def bars(self):
        width = WIDTH / len(self.panel.ticks)
        for place, height in self.panel.bars:
            y = self.y(height)
            yield (f'<rect x="{self.x(place) - 0.45 * width:.1f}" y="{y:.1f}" '
                   f'width="{0.9 * width:.1f}" height="{TOP + HEIGHT - y:.1f}" '
                   f'fill="{COLOURS[0]}"/>')

    def line(self, series):
        style = f'stroke="{series.colour}" fill="none" stroke-width="2"'
        if series.dashed:
            style += ' stroke-dasharray="5 4"'
        way = " ".join(f"{self.x(place):.1f},{self.y(y):.1f}" for place, y, _ in series.points)
        yield f'<polyline points="{way}" {style}/>'
        for place, y, deviation in series.points:
            x = self.x(place)
            if deviation:
                low, high = self.y(max(0, y - deviation)), self.y(y + deviation)
                yield (f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{series.colour}" '
                       'stroke-width="1.5"/>')
            fill = "white" if series.dashed else series.colour
            yield (f'<circle cx="{x:.1f}" cy="{self.y(y):.1f}" r="3.5" fill="{fill}" '
                   f'stroke="{series.colour}" stroke-width="1.5"/>')

    def draw(self):
        yield from self.axes()
        yield from self.bars()
        for series in self.panel.lines:
            yield from self.line(series)


def legend(names, top):
    for row, series in enumerate(names):
        y = top + row * LEGEND_ROW
        dash = ' stroke-dasharray="5 4"' if series.dashed else ""
        yield (f'<path d="M{LEFT} {y}h26" stroke="{series.colour}" stroke-width="2"{dash}/>')
        yield text(LEFT + 34, y + 4, series.name, "start")


def chart(panels):
    named = list({line.name: line for panel in panels for line in panel.lines}.values())
    width = LEFT + len(panels) * (WIDTH + GAP) - GAP + 20
    below = TOP + HEIGHT + BOTTOM + 12
    height = below + len(named) * LEGEND_ROW
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             f'width="{width}" height="{height}" font-family="sans-serif">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for i, panel in enumerate(panels):
        parts += Frame(panel, LEFT + i * (WIDTH + GAP)).draw()
    return "\n".join([*parts, *legend(named, below), "</svg>", ""])
