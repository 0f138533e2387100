#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Turns text into an SVG picture of a terminal.

  build/convoy train ... | tools/terminal_picture.py '$ build/convoy train ...' > docs/demo.svg
"""

import html
import sys

WIDTH, LINE, LEFT, TOP = 7.8, 17, 16, 40


def picture(lines):
    width = int(LEFT * 2 + WIDTH * max(len(line) for line in lines))
    height = TOP + LINE * len(lines) + 12
    rows = "\n".join(
        f'<text x="{LEFT}" y="{TOP + LINE * number + 8}">{html.escape(line)}</text>'
        for number, line in enumerate(lines))
    dots = "".join(f'<circle cx="{18 + 18 * i}" cy="16" r="5" fill="{colour}"/>'
                   for i, colour in enumerate(("#ff5f56", "#ffbd2e", "#27c93f")))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}">\n'
            f'<rect width="{width}" height="{height}" rx="8" fill="#1e2127"/>\n{dots}\n'
            '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="13" '
            f'fill="#d7dae0" xml:space="preserve">\n{rows}\n</g>\n</svg>\n')


if __name__ == "__main__":
    text = [sys.argv[1]] if len(sys.argv) > 1 else []
    print(picture(text + [line.rstrip() for line in sys.stdin]), end="")
