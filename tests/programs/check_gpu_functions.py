#!/usr/bin/env python3
"""check_gpu_functions.py SHIM_ABI_MD LIBRARY…: the table of CUDA's and GDRCopy's functions names all that the libraries
export, and nothing else."""

import re
import subprocess
import sys


def main():
    document, *libraries = sys.argv[1:]
    section = open(document, encoding="utf-8").read().split("\n## CUDA and GDRCopy\n")[1].split("\n## ")[0]
    told = {name for line in section.splitlines() if line.startswith("| ") for name in re.findall(r"`(\w+)`", line.split(" | ")[0])}
    exported = set()
    for library in libraries:
        symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        exported |= {line.split()[2].split("@")[0] for line in symbols.splitlines() if line.split()[1] == "T"}
    for what, names in (("exported and not in the table", exported - told), ("in the table and not exported", told - exported)):
        if names:
            print(f"{document}: {what}: {', '.join(sorted(names))}")
    return 0 if exported == told and exported else 1


if __name__ == "__main__":
    sys.exit(main())
