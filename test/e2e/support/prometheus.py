"""A strict reader of Prometheus' text format 0.0.4: anything it does not allow raises ValueError."""
import math
import re

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*\Z")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")
TYPES = ("counter", "gauge", "histogram", "summary", "untyped")


class Family:
    def __init__(self, name, text):
        self.name = name
        self.help = text
        self.type = None
        self.samples = {}  # (name, frozenset of labels) -> value, in order

    def value(self, **labels):
        return self.samples[(self.name, frozenset(labels.items()))]

    def get(self, **labels):
        return self.samples.get((self.name, frozenset(labels.items())), 0)

    def label_names(self):
        names = {name for _, labels in self.samples for name, _ in labels}
        return names - {"le"} if self.type == "histogram" else names

    def count(self, **labels):
        return self.samples.get((self.name + "_count", frozenset(labels.items())), 0)

    def sum(self, **labels):
        return self.samples.get((self.name + "_sum", frozenset(labels.items())), 0)


def read_labels(text, at):
    """Reads {a="b",c="d"} from `at`; answers the labels and where it ended."""
    labels = {}
    at += 1
    while text[at] != "}":
        equals = text.index("=", at)
        name = text[at:equals]
        if not LABEL.match(name) or name in labels or text[equals + 1] != '"':
            raise ValueError("label: " + text)
        value, at = "", equals + 2
        while text[at] != '"':
            if text[at] == "\\":
                at += 1
                if text[at] not in '\\"n':
                    raise ValueError("escape: " + text)
                value += "\n" if text[at] == "n" else text[at]
            else:
                value += text[at]
            at += 1
        labels[name] = value
        at += 1
        if text[at] == ",":
            at += 1
            if text[at] == "}":
                raise ValueError("comma: " + text)
        elif text[at] != "}":
            raise ValueError("labels: " + text)
    if not labels:
        raise ValueError("empty labels: " + text)
    return labels, at + 1


def read_value(text):
    if text in ("+Inf", "-Inf", "NaN"):
        return float(text.replace("Inf", "inf"))
    if not re.match(r"-?\d+(\.\d+)?([eE][+-]?\d+)?\Z", text):
        raise ValueError("value: " + text)
    return float(text)


def add_sample(family, line):
    match = re.match(r"[^{ ]+", line)
    name, at = match.group(0), match.end()
    labels = {}
    if line[at] == "{":
        labels, at = read_labels(line, at)
    if line[at] != " " or line[at + 1:].strip(" ") != line[at + 1:]:
        raise ValueError("spaces: " + line)
    suffixes = ("_bucket", "_sum", "_count") if family.type == "histogram" else ("",)
    if name not in [family.name + suffix for suffix in suffixes]:
        raise ValueError("not of the family %s: %s" % (family.name, line))
    if ("le" in labels) != (family.type == "histogram" and name.endswith("_bucket")):
        raise ValueError("le: " + line)
    key = (name, frozenset(labels.items()))
    if key in family.samples:
        raise ValueError("twice: " + line)
    family.samples[key] = read_value(line[at + 1:])


def check_histogram(family):
    groups = {}
    for (name, labels), value in family.samples.items():
        rest = frozenset(item for item in labels if item[0] != "le")
        group = groups.setdefault(rest, {"buckets": [], "_sum": None, "_count": None})
        bound = dict(labels).get("le")
        if bound is not None:
            group["buckets"].append((read_value(bound), value))
        else:
            group[name[len(family.name):]] = value
    for labels, group in groups.items():
        bounds = [bound for bound, _ in group["buckets"]]
        counts = [count for _, count in group["buckets"]]
        if bounds != sorted(set(bounds)) or not bounds or bounds[-1] != math.inf:
            raise ValueError("bounds of %s %s: %s" % (family.name, dict(labels), bounds))
        if counts != sorted(counts) or counts[-1] != group["_count"] or group["_sum"] is None:
            raise ValueError("counts of %s %s" % (family.name, dict(labels)))


def check(family):
    if family.type == "histogram":
        check_histogram(family)
    if family.type == "counter" and not family.name.endswith("_total"):
        raise ValueError("a counter without _total: " + family.name)
    if family.type != "counter" and family.name.endswith("_total"):
        raise ValueError("_total is for counters: " + family.name)
    if family.type == "counter" and any(value < 0 for value in family.samples.values()):
        raise ValueError("a counter below 0: " + family.name)
    if re.search(r"_(ms|milliseconds|us|minutes|hours|kb|mb|percent)(_|\Z)", family.name):
        raise ValueError("not a base unit: " + family.name)


def parse(text):
    """The families by name."""
    families, family = {}, None
    if not text.endswith("\n"):
        raise ValueError("the last line does not end")
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            name, _, about = line[7:].partition(" ")
            if not NAME.match(name) or name in families or not about:
                raise ValueError("HELP: " + line)
            family = families[name] = Family(name, about)
        elif line.startswith("# TYPE "):
            name, _, kind = line[7:].partition(" ")
            if family is None or name != family.name or family.type or kind not in TYPES:
                raise ValueError("TYPE: " + line)
            family.type = kind
        elif line.startswith("#") or line.strip() != line or not line:
            raise ValueError("line: " + repr(line))
        elif family is None or family.type is None:
            raise ValueError("before its TYPE: " + line)
        else:
            add_sample(family, line)
    for family in families.values():
        check(family)
    return families
