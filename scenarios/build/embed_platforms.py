#!/usr/bin/env python3
"""embed_platforms.py OUTPUT FILE…: writes C++ that defines the text of each platform file, as built_in_platforms.hpp
declares them."""
import pathlib
import sys

DELIMITER = "embed~"
# Compilers promise no more than 65,536 characters a literal (C++ [implimits]).
LITERAL_CHARACTERS = 60_000


def main() -> None:
    output, *files = sys.argv[1:]
    lines = ['#include "scenarios/build/built_in_platforms.hpp"', "namespace simverbs::scenarios {",
             "std::vector<KnownPlatform> built_in_platforms() {", "return {"]
    for file in sorted(map(pathlib.Path, files)):
        text = file.read_text(encoding="utf-8")
        if f"){DELIMITER}" in text or len(text) > LITERAL_CHARACTERS:
            raise SystemExit(f"{file}: cannot be embedded")
        lines.append(f'{{"{file.stem}", "platforms/{file.name}", R"{DELIMITER}({text}){DELIMITER}"}},')
    lines += ["};", "}", "}  // namespace simverbs::scenarios"]
    pathlib.Path(output).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
