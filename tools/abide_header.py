"""Reads include/abide.h for the tools that must not drift from it: tools/man3, tools/abi.

The header is regular on purpose, and what does not fit the rules below is an error here:
  - "/* ---- Title ---- */" begins a section
  - a comment followed by a blank line is text of the section; one that is followed by a declaration
    describes that and those that follow it without a blank line or a further comment
  - a declaration begins at the first column and ends with ";" outside of braces
"""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = os.path.join(ROOT, "include", "abide.h")


class Entry:
    """A comment with the declarations it describes; either may be missing."""

    def __init__(self, text=""):
        self.text = text
        self.declarations = []

    def functions(self):
        return [d.name for d in self.declarations if d.kind == "function"]


class Declaration:
    def __init__(self, source):
        self.source = source        # with its comments, as it stands in the header
        self.code = " ".join(strip_comments(source).split())
        function = re.match(r"ABIDE_API .*?\b(abide_\w+)\(", self.code)
        struct = re.match(r"typedef struct (abide_\w+) \{", self.code)
        self.name = None
        if function:
            self.kind, self.name = "function", function.group(1)
        elif struct:
            self.kind, self.name = "struct", struct.group(1)
        elif self.code.startswith("enum {"):
            self.kind = "enum"
        elif self.code.startswith("#define"):
            self.kind = "macro"
        elif self.code.startswith("typedef "):
            self.kind = "type"
        else:
            raise SystemExit("abide.h: not understood: " + self.code)

    def prototype(self):
        code = re.sub(r"^ABIDE_API ", "", self.code)
        return re.sub(r" ABIDE_PRINTF\(.*?\)", "", code)

    def members(self):
        """The names of a struct's members, in order."""
        body = self.code[self.code.index("{") + 1:self.code.rindex("}")]
        for part in re.split(r";", body):
            pointer = re.search(r"\(\*(\w+)\)", part)
            if pointer:
                yield pointer.group(1)
            elif part.strip():
                yield from (re.sub(r"\[.*\]", "", word).split()[-1].lstrip("*")
                            for word in part.split(","))

    def constants(self):
        body = self.code[self.code.index("{") + 1:self.code.rindex("}")]
        return re.findall(r"\b(ABIDE_\w+)\b(?= *(?:=|,|$))", body)


class Section:
    def __init__(self, title):
        self.title = title
        self.entries = []

    def declarations(self, kind):
        return [d for entry in self.entries for d in entry.declarations if d.kind == kind]


def strip_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def comment_text(comment):
    """The words of a comment without its marks; indentation beyond them is kept."""
    inner = comment.strip()[2:-2]
    if "\n" not in inner:
        return inner.strip()
    lines = [re.sub(r"^(\*\* ?|   )", "", line).rstrip() for line in inner.split("\n")]
    lines[0] = lines[0].strip()
    return "\n".join(lines).strip("\n")


def read_chunks(text):
    """Comments, declarations and blank lines at the outermost level: (kind, source)."""
    at = 0
    while at < len(text):
        if text[at] == "\n":
            yield "blank", ""
            at += 1
            continue
        if text.startswith("/*", at):
            end = text.index("*/", at) + 2
            yield "comment", text[at:end]
        elif text[at] == "#":
            end = re.compile(r"(?:[^\n]*\\\n)*[^\n]*").match(text, at).end()
            yield "macro", text[at:end]
        else:
            depth, end = 0, at
            while depth > 0 or text[end] != ";":
                if text.startswith("/*", end):
                    end = text.index("*/", end) + 1
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            end += 1
            trailing = re.compile(r" */\*[^\n]*\*/").match(text, end)
            if trailing:
                end = trailing.end()
            yield "declaration", text[at:end]
        at = end + 1 if text[end:end + 1] == "\n" else end


def read(path=HEADER):
    """(text of the head, version, sections)"""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    head = comment_text(text[:text.index("*/") + 2])
    body = text[text.index("/* ---- Version "):text.rindex("#ifdef __cplusplus")]
    sections, entry, skipping = [], None, 0
    for kind, source in read_chunks(body):
        title = re.match(r"/\* -+ (.*?) -+ \*/$", source) if kind == "comment" else None
        condition = re.match(r"#(if|else|endif)", source) if kind == "macro" else None
        if condition:
            skipping += {"if": 1, "endif": -1}.get(condition.group(1), 0)
        elif skipping:
            continue
        elif title:
            sections.append(Section(title.group(1)))
            entry = None
        elif kind == "blank":
            entry = None
        else:
            if entry is None or kind == "comment":
                entry = Entry(comment_text(source) if kind == "comment" else "")
                sections[-1].entries.append(entry)
            if kind != "comment":
                declaration = Declaration(source)
                if declaration.kind == "struct" and entry.functions():
                    entry = Entry()
                    sections[-1].entries.append(entry)
                entry.declarations.append(declaration)
    version = re.search(r'#define ABIDE_VERSION +"(.*)"', text).group(1)
    return head, version, sections
