# SPDX-License-Identifier: Apache-2.0
"""The rows of the bench as an SVG, readable on a light and on a dark page.

Latencies span four decades: points on a logarithmic axis, which has no zero that a bar could stand
on. Throughput is bars from zero.
"""

import math
from xml.sax.saxutils import escape

OWN = ("cold", "fresh", "forked")
FLOORS = ("bare", "prestarted")

WIDTH, LEFT, RIGHT = 860, 250, 70
ROW, TITLE, AXIS, GAP = 22, 34, 26, 26
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #6a737d; }
.title { font-weight: 600; }
.small { font-size: 11px; }
.grid { stroke: #8b949e; stroke-opacity: 0.35; }
.own { fill: #2f81f7; stroke: #2f81f7; }
.floor { fill: #8b949e; stroke: #8b949e; }
.peer { fill: #d2873c; stroke: #d2873c; }
.reach { stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  text { fill: #adbac7; }
}
"""


class LogScale:
    """An axis over whole decades."""

    def __init__(self, values):
        self.low = math.floor(math.log10(min(values) * 0.9))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)

    def x(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def marks(self):
        return [10.0 ** n for n in range(self.low, self.high + 1)]


class LinearScale:
    """An axis from zero, with a mark at each one, two or five of the fitting power of ten."""

    def __init__(self, values):
        self.step = next(step for n in range(-3, 9) for step in (10.0**n, 2 * 10.0**n, 5 * 10.0**n)
                         if step * 6 >= max(values))
        self.high = math.ceil(max(values) / self.step) * self.step

    def x(self, value):
        return LEFT + value / self.high * (WIDTH - LEFT - RIGHT)

    def marks(self):
        return [self.step * n for n in range(round(self.high / self.step) + 1)]


def number(value):
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def kind_of(name):
    return "own" if name in OWN else "floor" if name in FLOORS else "peer"


def point(scale, name, middle, value, reach):
    """A point with a line to how far it reaches, and where that ends."""
    x, end = scale.x(value), scale.x(max(reach, value))
    return (f'<line class="{kind_of(name)} reach" x1="{x:.1f}" x2="{end:.1f}" y1="{middle}"'
            f' y2="{middle}"/>'
            f'<circle class="{kind_of(name)}" cx="{x:.1f}" cy="{middle}" r="5"/>'), end


def bar(scale, name, middle, value, _):
    end = scale.x(value)
    return (f'<rect class="{kind_of(name)}" x="{LEFT}" y="{middle - 7}" height="14"'
            f' width="{end - LEFT:.1f}"/>'), end


def panel(top, title, scale, shape, rows):
    """rows: (name, title, value, how far it reaches). The panel's end comes back too."""
    bottom = top + TITLE + len(rows) * ROW
    parts = [f'<text class="title" x="8" y="{top + 18}">{escape(title)}</text>']
    for mark in scale.marks():
        x = scale.x(mark)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top + TITLE - 4}"'
                     f' y2="{bottom}"/><text class="small" text-anchor="middle" x="{x:.1f}"'
                     f' y="{bottom + 15}">{number(mark)}</text>')
    for index, (name, label, value, reach) in enumerate(rows):
        middle = top + TITLE + index * ROW + ROW // 2
        drawn, end = shape(scale, name, middle, value, reach)
        parts.append(f'<text text-anchor="end" x="{LEFT - 10}" y="{middle + 4}">{escape(label)}'
                     f'</text>{drawn}<text class="small" x="{end + 9:.1f}" y="{middle + 4}">'
                     f'{number(value)}</text>')
    return parts, bottom + AXIS


def latencies(rows):
    found = [(name, row["title"], row["latency"]["end_ms"]["p50"], row["latency"]["end_ms"]["p99"])
             for name, row in rows.items() if "latency" in row]
    return sorted(found, key=lambda row: row[2])


def floods(rows, at_once):
    found = [(name, row["title"], row["at_once"][at_once]["runs_per_s"], 0)
             for name, row in rows.items()
             if row.get("at_once", {}).get(at_once, {}).get("runs_per_s")]
    return sorted(found, key=lambda row: -row[2])


def draw(rows):
    parts, top = [], 0
    if found := latencies(rows):
        scale = LogScale([value for row in found for value in row[2:]])
        parts, top = panel(top, "One run of print(1), request to result: ms, median to p99", scale,
                           point, found)
    sizes = {size for row in rows.values() for size in row.get("at_once", {})}
    size = "8" if "8" in sizes else max(sizes, key=int, default="")
    if found := floods(rows, size):
        scale = LinearScale([row[2] for row in found])
        more, top = panel(top + GAP, f"Runs per second, {size} at once", scale, bar, found)
        parts += more
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}"'
            f' height="{top}" role="img">\n<title>SandboxRun beside other sandboxes</title>\n'
            f"<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n")
