#!/usr/bin/env python3
"""Runs clang-tidy: tidy.py BUILD_DIR [--all] [--seconds N] [--jobs N] [--base COMMIT] [FILE…]

Without FILEs: the sources that differ from the base, the most recently changed first, until the seconds are spent.
The base is, in this order: --base or $SIMVERBS_CHECK_BASE; where origin/main and HEAD part; the last ten commits.
A changed header stands for the source of the same name beside it. --all looks at every source that is built.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

FALLBACK_COMMITS = 10
# The build is g++'s; what its command lines say that clang does not know is no finding.
EXTRA = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-optimization-argument", "--quiet"]
SUMMARY = re.compile(r"^(\d+ warnings? .*generated|Suppressed \d+ warnings|Use -header-filter)")


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False).stdout


def changed_files(base: str | None) -> list[str]:
    """Files that differ from the base, uncommitted ones first, then by their last commit, newest first."""
    if not base:
        head = git("rev-parse", "HEAD").strip()
        fork = git("merge-base", "origin/main", "HEAD").strip()
        base = fork if fork and fork != head else None
    span = [f"{base}..HEAD"] if base else ["-n", str(FALLBACK_COMMITS)]
    names = git("diff", "--name-only", "HEAD").split("\n")
    names += git("log", "--format=", "--name-only", "--no-renames", *span).split("\n")
    return list(dict.fromkeys(name for name in names if name))


def with_sources(names: list[str]) -> list[str]:
    sources = []
    for name in names:
        path = pathlib.PurePosixPath(name)
        sources.append(str(path.with_suffix(".cpp")) if path.suffix in {".hpp", ".h"} else name)
    return list(dict.fromkeys(sources))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--base", default=os.environ.get("SIMVERBS_CHECK_BASE"))
    parser.add_argument("files", nargs="*")
    options = parser.parse_intermixed_args()

    with open(os.path.join(options.build, "compile_commands.json"), encoding="utf-8") as database:
        commands = json.load(database)
    root = os.getcwd()
    built = {os.path.relpath(os.path.realpath(os.path.join(c["directory"], c["file"])), root) for c in commands}
    if options.all:
        wanted = sorted(built)
    else:
        wanted = with_sources(options.files or changed_files(options.base))
    wanted = [name for name in wanted if name in built and not name.startswith("build")]

    tidy = shutil.which("clang-tidy-14") or "clang-tidy"
    deadline = time.monotonic() + options.seconds

    def look_at(name: str) -> tuple[str, bool | None, str]:
        left = deadline - time.monotonic()
        if left <= 0:
            return name, None, ""
        try:
            done = subprocess.run([tidy, "-p", options.build, *EXTRA, name], capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=left + 60, check=False)
        except subprocess.TimeoutExpired:
            return name, None, ""
        findings = "\n".join(line for line in (done.stdout + done.stderr).splitlines() if not SUMMARY.match(line))
        return name, done.returncode == 0 and ": warning: " not in findings, findings.strip()

    seen = bad = 0
    left_out = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        for name, good, findings in pool.map(look_at, wanted):
            if good is None:
                left_out.append(name)
                continue
            seen += 1
            if not good:
                bad += 1
                print(findings or f"{name}: clang-tidy failed without a word")
    if left_out:
        print(f"not looked at within {options.seconds:.0f} s, oldest changes: {' '.join(left_out)}")
    print(f"clang-tidy looked at {seen} sources, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
