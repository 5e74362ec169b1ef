#!/usr/bin/env python3
# Makes one C file of the prelude: embed.py OUTPUT FILE.js ...
# The text is written as numbers, so that no quoting rule and no string length limit matters.
import sys


def main():
    output = sys.argv[1]
    files = [name for name in sys.argv[2:] if name.endswith(".js")]
    text = b"".join(open(name, "rb").read() + b"\n" for name in files)
    lines = [
        "// Made by prelude/embed.py from prelude/*.js.",
        "#include <stddef.h>",
        "extern const char flow_prelude_source[];",
        "extern const size_t flow_prelude_source_len;",
        "const char flow_prelude_source[] = {",
    ]
    for start in range(0, len(text), 20):
        lines.append("    " + " ".join("%d," % byte for byte in text[start:start + 20]))
    lines.append("    0,")
    lines.append("};")
    lines.append("const size_t flow_prelude_source_len = %d;" % len(text))
    with open(output, "w") as out:
        out.write("\n".join(lines) + "\n")


main()
