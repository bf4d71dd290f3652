#!/usr/bin/env python3
"""Counts the tests of one `meson test` run: test_count.py LOG.json, prints 'PASSED FAILED SKIPPED'.

A GoogleTest or TAP program counts each of its cases, any other test counts as one. A program that fails although
each of its cases passed (a leak, a crash at exit) counts as one failure more.
"""
import json
import re
import sys

GTEST_PASSED = re.compile(r"^\[  PASSED  \] (\d+) test", re.M)
GTEST_FAILED = re.compile(r"^\[  FAILED  \] (\d+) test", re.M)
GTEST_SKIPPED = re.compile(r"^\[  SKIPPED \] (\d+) test", re.M)
TAP_PASSED = re.compile(r"^ok\b(?!.*# *SKIP)", re.M | re.I)
TAP_FAILED = re.compile(r"^not ok\b", re.M)
GOOD = {"OK", "EXPECTEDFAIL"}


def cases(stdout: str) -> tuple[int, int, int]:
    passed = sum(int(n) for n in GTEST_PASSED.findall(stdout))
    failed = sum(int(n) for n in GTEST_FAILED.findall(stdout))
    skipped = sum(int(n) for n in GTEST_SKIPPED.findall(stdout))
    if passed + failed + skipped == 0 and re.search(r"^(TAP version|1\.\.\d)", stdout, re.M):
        passed, failed = len(TAP_PASSED.findall(stdout)), len(TAP_FAILED.findall(stdout))
    return passed, failed, skipped


def main() -> int:
    passed = failed = skipped = 0
    try:
        with open(sys.argv[1], encoding="utf-8") as log:
            runs = [json.loads(line) for line in log if line.strip()]
    except FileNotFoundError:
        runs = []
    for run in runs:
        if run["result"] == "SKIP":
            skipped += 1
            continue
        case_passed, case_failed, case_skipped = cases(run.get("stdout") or "")
        skipped += case_skipped
        if run["result"] in GOOD:
            passed += case_passed if case_passed or case_skipped else 1
        else:
            passed += case_passed
            failed += max(case_failed, 1)
    print(passed, failed, skipped)
    return 0


if __name__ == "__main__":
    sys.exit(main())
