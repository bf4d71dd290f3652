#!/usr/bin/env python3
"""Checks the seconds that tests declare: test_budget.py BUILD_DIR [LOG.json…]

A test declares its seconds in its `timeout:`, which is to be six times what it needs on a quiet machine, so that a
busy one does not fail it. Checked are
  - that each test has a `timeout:` of its own (Meson's default of 30 counts as none) and belongs to a known suite;
  - that the declared seconds of everything that tools/check runs, each test as often as it is run, stay within 32 minutes:
    two tests run at a time, so these are 16, and 14 of the half hour are left to the builds and the lint;
  - with LOGs of earlier `meson test` runs: that no test used more than half of its limit.
"""
import json
import subprocess
import sys

HEADROOM = 6
MESON_DEFAULT = 30
LIMIT_SECONDS = 32 * 60
# How often tools/check runs a test of a suite: in the release, the sanitized and the thread-sanitized build.
RUNS = {
    "unit": 2,
    "conformance": 2,
    "fidelity": 1,
    "report": 1,
    "determinism": 1,
    "golden": 1,
    "programs": 1,
    "sanitized": 1,
    "fuzz": 1,
    "tsan": 1,
    "full": 0,
}


def suites_of(test) -> set[str]:
    return {suite.split(":")[-1] for suite in test["suite"]}


def seconds_of(test) -> float:
    suites = suites_of(test)
    if "full" in suites:
        return 0.0
    return test["timeout"] / HEADROOM * sum(RUNS.get(suite, 0) for suite in suites)


def slow_tests(logs: list[str], limits: dict[str, int]) -> list[str]:
    slow = []
    for log in logs:
        with open(log, encoding="utf-8") as lines:
            for run in map(json.loads, filter(str.strip, lines)):
                name = run["name"].split(" / ")[-1]
                limit = limits.get(name, 0)
                if limit and run["duration"] > limit / 2:
                    slow.append(f"{name}: took {run['duration']:.1f} s of its {limit} s")
    return slow


def main() -> int:
    build, logs = sys.argv[1], sys.argv[2:]
    out = subprocess.run(["meson", "introspect", "--tests", build], check=True, capture_output=True, text=True)
    tests = json.loads(out.stdout)
    problems = []
    for test in tests:
        unknown = suites_of(test) - RUNS.keys()
        if unknown or not test["suite"]:
            problems.append(f"{test['name']}: suite {sorted(unknown) or '(none)'} is not one of {', '.join(RUNS)}")
        if test["timeout"] in (0, MESON_DEFAULT) or test["timeout"] < 0:
            problems.append(f"{test['name']}: declares no timeout: of its own")
    problems += slow_tests(logs, {test["name"]: test["timeout"] for test in tests})
    total = sum(map(seconds_of, tests))
    print(f"{len(tests)} tests declare {total:.0f} s of {LIMIT_SECONDS} s in tools/check")
    if total > LIMIT_SECONDS:
        problems.append("the declared seconds are over the limit; the largest:")
        largest = sorted(tests, key=seconds_of, reverse=True)[:10]
        problems += [f"  {test['name']}: {seconds_of(test):.0f} s" for test in largest]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
