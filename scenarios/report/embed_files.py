#!/usr/bin/env python3
"""embed_files.py OUTPUT NAME=FILE[,FILE…]…: writes C++ that defines a string_view of each file's bytes, as page_files.hpp
declares them. Several files become one function, in whose scope they share what they declare. NAME= alone is empty."""
import pathlib
import re
import sys

# Compilers promise no more than 65,536 characters a literal (C++ [implimits]).
LITERAL_CHARACTERS = 8_000
DELIMITER = "embed~"


def literal(text: str) -> str:
    if f"){DELIMITER}\"" in text:
        raise SystemExit(f"a file holds the delimiter {DELIMITER}")
    pieces = [text[i:i + LITERAL_CHARACTERS] for i in range(0, len(text), LITERAL_CHARACTERS)] or [""]
    return "\n".join(f'R"{DELIMITER}({piece}){DELIMITER}"' for piece in pieces)


def read_all(files: list[pathlib.Path]) -> str:
    texts = [file.read_text(encoding="utf-8") for file in files]
    for file, text in zip(files, texts):
        if file.suffix == ".js" and re.search(r"</script|<!--", text, re.IGNORECASE):
            raise SystemExit(f"{file}: cannot stand in a page: it has </script or <!--")
    if len(files) < 2:
        return "".join(texts)
    return "(() => {\n'use strict';\n" + "\n".join(texts) + "})();\n"


def main() -> None:
    output, *definitions = sys.argv[1:]
    lines = ['#include "scenarios/report/page_files.hpp"', "namespace simverbs::scenarios::report {"]
    for definition in definitions:
        name, _, files = definition.partition("=")
        text = read_all([pathlib.Path(file) for file in files.split(",") if file])
        lines.append(f"const std::string_view {name}(\n{literal(text)}, {len(text.encode())});")
    lines.append("}  // namespace simverbs::scenarios::report")
    pathlib.Path(output).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
