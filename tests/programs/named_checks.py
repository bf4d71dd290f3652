"""The command line of the run_*_check.py: checks are functions, run by name; without a name, the names are printed.

A check raises AssertionError. Status 77, as Meson has it: a program that the checks need is not installed."""

import argparse
import os
import shutil
import subprocess

OPTIONS = argparse.Namespace()


def main(checks, needed):
    parser = argparse.ArgumentParser()
    parser.add_argument("--simverbs", default="", type=lambda path: os.path.abspath(path) if path else "")
    parser.add_argument("--programs", default="")
    parser.add_argument("name", nargs="?", help="the check; without one: prints their names")
    parser.parse_args(namespace=OPTIONS)
    if OPTIONS.name is None:
        print("\n".join(check.__name__ for check in checks))
        return 0
    for program in needed:
        if shutil.which(program) is None:
            print(f"skipped: {program} is not installed")
            return 77
    check = next(c for c in checks if c.__name__ == OPTIONS.name)
    try:
        check()
    except (AssertionError, subprocess.TimeoutExpired) as problem:
        print(f"FAILED {OPTIONS.name}\n{problem}")
        return 1
    return 0
