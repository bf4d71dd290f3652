#!/usr/bin/env python3
"""Prints what ninja must build for the tests of some suites: test_targets.py BUILD_DIR SUITE…"""
import json
import os
import subprocess
import sys


def introspect(build: str, what: str):
    out = subprocess.run(["meson", "introspect", f"--{what}", build], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def main() -> int:
    build, suites = sys.argv[1], set(sys.argv[2:])
    files = {target["id"]: target["filename"] for target in introspect(build, "targets")}
    wanted = set()
    for test in introspect(build, "tests"):
        if suites & {suite.split(":")[-1] for suite in test["suite"]}:
            for target in test["depends"]:
                wanted.update(os.path.relpath(name, os.path.realpath(build)) for name in files.get(target, []))
    print("\n".join(sorted(wanted)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
