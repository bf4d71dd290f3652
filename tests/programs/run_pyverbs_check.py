#!/usr/bin/env python3
"""rdma-core's own test suite on a simulated adapter: what does not pass is in pyverbs_skips.py, and nothing else.

run_pyverbs_check.py                            the names of the checks
run_pyverbs_check.py --simverbs PATH NAME       runs one; 0, or 1 with what differs, or 77 where pyverbs is missing
"""

import argparse
import fnmatch
import gzip
from pathlib import Path
import re
import shutil
import subprocess
import sys
import tempfile

import pyverbs_skips

SOURCES = Path("/usr/share/doc/rdma-core/tests")
PYTHON = "/usr/bin/python3"  # whose packages are Debian's
SIMULATED_HOST = Path(__file__).resolve().parent.parent / "support" / "simulated_host"
SKIPPED = 77
TIME_LIMIT = 150
RESULT = re.compile(r"^(test_\w+) \(tests\.([\w.]+)\)(?:\n(?!test_\w+ \().*)*? \.\.\. "
                    r"(ok|FAIL|ERROR|expected failure|skipped (?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))", re.M)

CHECKS = {
    "rdma_cores_own_tests_on_roce": ("", 3, pyverbs_skips.ROCE, pyverbs_skips.PASSED_ON_ROCE),
    "rdma_cores_own_tests_on_infiniband": ("two_hosts_ib", 0, pyverbs_skips.INFINIBAND,
                                           pyverbs_skips.PASSED_ON_INFINIBAND),
}


def unpack(to):
    for source in SOURCES.iterdir():
        if source.suffix == ".gz":
            (to / source.stem).write_bytes(gzip.decompress(source.read_bytes()))
        elif source.is_file():
            shutil.copy(source, to)


def modules(folder):
    return sorted(f.stem for f in folder.glob("test_*.py"))


def run(simverbs, lab, gid):
    """The results of all tests: {'test_addr.AHTest.test_create_ah': 'ok', …}, and everything that was printed."""
    with tempfile.TemporaryDirectory(prefix="simverbs-pyverbs-") as folder:
        tests = Path(folder) / "tests"
        tests.mkdir()
        unpack(tests)
        command = f"cd {folder} && PATH={SIMULATED_HOST}:$PATH {PYTHON} tests/run_tests.py -v --dev mlx5_0 --gid {gid} {' '.join(modules(tests))}"
        done = subprocess.run([simverbs, "exec", *(["--lab", lab] if lab else []), "h0", command],
                              capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    printed = re.sub(r"^\[h0\] ?", "", done.stdout + done.stderr, flags=re.M)
    return {m[2]: m[3] for m in RESULT.finditer(printed)}, printed


def expected_reason(skips, test):
    return next((reason for pattern, reason in skips.items() if fnmatch.fnmatch(test, pattern)), None)


def differences(results, skips, passed):
    wrong = []
    for test, result in results.items():
        reason = expected_reason(skips, test)
        if result == "ok":
            if test in skips:
                wrong.append(f"{test} passes, but pyverbs_skips.py says: {reason}")
        elif not result.startswith("skipped"):
            wrong.append(f"{test}: {result}")
        elif reason is None:
            wrong.append(f"{test} is newly skipped: {result}")
    count = sum(result == "ok" for result in results.values())
    if count < passed:
        wrong.append(f"{count} tests passed, expected {passed}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simverbs")
    parser.add_argument("name", nargs="?", choices=CHECKS)
    arguments = parser.parse_args()
    if arguments.name is None:
        print("\n".join(CHECKS))
        return 0
    if not SOURCES.is_dir() or subprocess.run([PYTHON, "-c", "import pyverbs"], capture_output=True).returncode != 0:
        print("python3-pyverbs and rdma-core's tests are not installed")
        return SKIPPED
    lab, gid, skips, passed = CHECKS[arguments.name]
    results, printed = run(arguments.simverbs, lab, gid)
    wrong = differences(results, skips, passed)
    counts = [sum(r.startswith(kind) for r in results.values()) for kind in ("ok", "skipped")]
    print(f"{counts[0]} passed, {counts[1]} skipped, {len(results) - sum(counts)} failed")
    for line in wrong:
        print(line)
    if wrong:
        print(printed[-8000:])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
