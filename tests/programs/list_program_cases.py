#!/usr/bin/env python3
"""Prints `name seconds kind` of every case of a set (short or full), for meson; kind is sanitized for those that run
against the sanitized server as well."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program_cases  # noqa: E402

for case in program_cases.SHORT if sys.argv[1] == "short" else program_cases.full():
    print(case.name, case.seconds, "sanitized" if case.sanitized else "plain")
