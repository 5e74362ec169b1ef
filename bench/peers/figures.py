"""What bench/peers.py prints: medians and spread of the rounds, ratios to us, a table in Markdown."""
import re
import statistics

BEGIN = "<!-- bench-peers: begin -->"
END = "<!-- bench-peers: end -->"


class Figure:
    """One row of the table. `is_rate`: more is better; otherwise less is."""

    def __init__(self, key, text, unit, is_rate=False):
        self.key, self.text, self.unit, self.is_rate = key, text, unit, is_rate


class Results:
    """Values by figure and system, one per round; a failure instead of a value is a text."""

    def __init__(self):
        self.values = {}
        self.failures = {}

    def add(self, key, system, value):
        self.values.setdefault((key, system), []).append(value)

    def fail(self, key, system, reason):
        self.failures[key, system] = reason

    def median(self, key, system):
        values = self.values.get((key, system))
        return statistics.median(values) if values else None

    def spread(self, key, system):
        """Largest minus smallest, as a part of the median."""
        values = self.values.get((key, system), [])
        middle = self.median(key, system)
        return (max(values) - min(values)) / middle if len(values) > 1 and middle else 0.0


def ratio(figure, ours, theirs):
    """How many times better the other one is: above 1 it is better than us."""
    if ours is None or theirs is None or ours <= 0 or theirs <= 0:
        return None
    return theirs / ours if figure.is_rate else ours / theirs


def number(value):
    if value is None:
        return "–"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def cell(results, figure, system, base):
    value = results.median(figure.key, system)
    if value is None:
        return "failed" if (figure.key, system) in results.failures else "–"
    text = f"{number(value)} ±{results.spread(figure.key, system) * 50:.0f} %"
    better = ratio(figure, results.median(figure.key, base), value) if system != base else None
    return text + (f" ({number(better)}×)" if better is not None else "")


def table(results, figures, systems, base):
    """Rows are figures, columns systems. In brackets: how many times better than `base`; below 1 it is worse."""
    lines = ["| | " + " | ".join(systems) + " |", "|---|" + "---|" * len(systems)]
    for figure in figures:
        cells = [cell(results, figure, system, base) for system in systems]
        lines.append(f"| {figure.text}, {figure.unit} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def better_than_us(results, figures, ours, peers):
    """Sentences: where a peer's median is better than that of each of ours that has one."""
    lines = []
    for figure in figures:
        values = [value for system in ours if (value := results.median(figure.key, system)) is not None]
        if not values:
            continue
        best = max(values) if figure.is_rate else min(values)
        for peer in peers:
            times = ratio(figure, best, results.median(figure.key, peer))
            if times is not None and times > 1:
                lines.append(f"- {peer} is better than the best of ours at “{figure.text}”: {number(times)}×.")
    return lines


def place(document, text):
    """The document with `text` between its marks, or `text` alone where there are none."""
    if BEGIN not in document or END not in document:
        return text + "\n"
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    return pattern.sub(lambda _: f"{BEGIN}\n{text}\n{END}", document, count=1)
