# SPDX-License-Identifier: Apache-2.0
"""The figures of the bench as text."""

COLUMNS = [
    ("one: output", lambda row: times(row, "latency", "output_ms")),
    ("one: result", lambda row: times(row, "latency", "end_ms")),
    ("after idle: result", lambda row: times(row, "after_idle", "end_ms")),
    ("runs/s at once", lambda row: floods(row, "runs_per_s")),
    ("CPU ms", lambda row: first_flood(row, "cpu_ms_per_run")),
    ("waiting KiB", lambda row: private(row, "waiting")),
    ("running KiB", lambda row: private(row, "running")),
]
NESTED = ("rows", "stages", "machine")


def times(row, kind, edge):
    if kind not in row:
        return "-"
    figures = row[kind][edge]
    over = row[kind].get(f"{edge.removesuffix('_ms')}_over_bare")
    ratio = f" ({over:.2f})" if over is not None else ""
    return " ".join(f"{figures[q]:.2f}" for q in ("p50", "p95", "p99")) + ratio


def floods(row, key):
    found = row.get("at_once", {})
    return " ".join(f"{size}:{flood[key]:.0f}" for size, flood in found.items()
                    if flood[key] is not None) or "-"


def first_flood(row, key):
    return next((f"{flood[key]:.1f}" for flood in row.get("at_once", {}).values()), "-")


def private(row, which):
    return str(row.get("memory", {}).get(which, {}).get("private_kib", "-"))


def draw_rows(rows):
    lines = [["", *(title for title, _ in COLUMNS)]]
    missing = []
    for row in rows.values():
        if "missing" in row:
            missing.append(f"{row['title']}: {row['missing']}")
        if "latency" in row:
            lines.append([row["title"], *(cell(row) for _, cell in COLUMNS)])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return [*("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip()
              for line in lines), *missing]


def draw_stages(parts):
    lines = []
    for name, stages in parts.items():
        lines.append(f"{name}: " + ", ".join(
            f"{stage} {figures['p50_us']}" for stage, figures in stages.items()))
    return lines


def draw(figures):
    machine = figures["machine"]
    lines = [f"{machine['cpus']} CPUs, Linux {machine['kernel']}, load {machine['load']} at the start",
             "", "milliseconds: p50 p95 p99 (p50 over the bare interpreter's)", ""]
    lines += draw_rows(figures["rows"])
    lines += ["", "stages of a run, p50 in microseconds (tests/bench/stages.py)", ""]
    lines += draw_stages(figures["stages"])
    lines.append("")
    lines += [f"{name:40} {value}" for name, value in figures.items() if name not in NESTED]
    return "\n".join(lines)
