# SPDX-License-Identifier: Apache-2.0
"""The rows of the bench as an SVG, readable on a light and on a dark page."""

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
.own { fill: #2f81f7; }
.floor { fill: #8b949e; }
.peer { fill: #d2873c; }
.whisker { stroke: #6a737d; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
  text { fill: #adbac7; }
  .whisker { stroke: #adbac7; }
}
"""


class Scale:
    """A logarithmic axis over whole decades."""

    def __init__(self, values):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)

    def x(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return LEFT + max(share, 0) * (WIDTH - LEFT - RIGHT)

    def decades(self):
        return [10.0 ** n for n in range(self.low, self.high + 1)]


def number(value):
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def kind_of(name):
    return "own" if name in OWN else "floor" if name in FLOORS else "peer"


def panel(top, title, bars):
    """bars: (name, title, value, value of a whisker's end or None). The height comes back too."""
    scale = Scale([value for _, _, *values in bars for value in values if value])
    bottom = top + TITLE + len(bars) * ROW
    parts = [f'<text class="title" x="8" y="{top + 18}">{escape(title)}</text>']
    for decade in scale.decades():
        x = scale.x(decade)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top + TITLE - 4}"'
                     f' y2="{bottom}"/>'
                     f'<text class="small" text-anchor="middle" x="{x:.1f}" y="{bottom + 15}">'
                     f'{number(decade)}</text>')
    for index, (name, label, value, end) in enumerate(bars):
        y = top + TITLE + index * ROW
        x = scale.x(value)
        parts.append(f'<text text-anchor="end" x="{LEFT - 8}" y="{y + 14}">{escape(label)}</text>'
                     f'<rect class="{kind_of(name)}" x="{LEFT}" y="{y + 3}" height="{ROW - 7}"'
                     f' width="{max(x - LEFT, 1):.1f}" rx="2"/>')
        if end and end > value:
            parts.append(f'<line class="whisker" x1="{x:.1f}" x2="{scale.x(end):.1f}"'
                         f' y1="{y + ROW / 2:.1f}" y2="{y + ROW / 2:.1f}"/>')
        after = max(x, scale.x(end) if end else 0)
        parts.append(f'<text class="small" x="{after + 6:.1f}" y="{y + 15}">{number(value)}</text>')
    return parts, bottom + AXIS


def latency_bars(rows):
    found = [(name, row["title"], row["latency"]["end_ms"]["p50"], row["latency"]["end_ms"]["p99"])
             for name, row in rows.items() if "latency" in row]
    return sorted(found, key=lambda bar: bar[2])


def flood_bars(rows, at_once):
    found = [(name, row["title"], row["at_once"][at_once]["runs_per_s"], None)
             for name, row in rows.items() if row.get("at_once", {}).get(at_once)]
    return sorted((bar for bar in found if bar[2] > 0), key=lambda bar: -bar[2])


def draw(rows):
    parts, top = panel(0, "One run of print(1), request to result: ms, median and p99",
                       latency_bars(rows))
    sizes = {size for row in rows.values() for size in row.get("at_once", {})}
    if sizes:
        size = "8" if "8" in sizes else max(sizes, key=int)
        more, top = panel(top + GAP, f"Runs per second, {size} at once", flood_bars(rows, size))
        parts += more
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}"'
            f' height="{top}" role="img">\n<title>SandboxRun beside other sandboxes</title>\n'
            f"<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n")
