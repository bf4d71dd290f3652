#!/usr/bin/env python3
"""Runs one case of program_cases.py and judges it. Exit codes: 0 passed, 1 failed, 77 skipped (a program is missing)."""

import argparse
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program_cases  # noqa: E402

# Before the test's own limit (six times the declared seconds; sanitized servers get three times that) ends it without a word.
LIMIT = 15 if os.environ.get("SIMVERBS_SERVER_BUILD") else 5
SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "support"


def own_programs(folder):
    return {p.name: str(p) for p in pathlib.Path(folder).iterdir() if p.is_file()} if folder else {}


def server_and_environment(simverbs):
    """The server of another build where SIMVERBS_SERVER_BUILD names one, always with the client of the build under test."""
    other = os.environ.get("SIMVERBS_SERVER_BUILD")
    if not other:
        return simverbs, dict(os.environ)
    client = pathlib.Path(simverbs).resolve().parent.parent / "verbs_shim" / "client" / "libsimverbs-preload.so"
    return str(pathlib.Path(other) / "tools" / "simverbs"), {**os.environ, "SIMVERBS_PRELOAD": str(client)}


def run_once(case, simverbs, programs, pcap_dir):
    server, environment = server_and_environment(simverbs)
    programs = {"simverbs": str(pathlib.Path(server).resolve()), **programs}
    command = [server, "exec"]
    if case.lab:
        command += ["--lab", case.lab]
    if pcap_dir:
        command += ["--pcap", str(pcap_dir)]
    command += list(case.options)
    for host, text in case.commands:
        command += [host, re.sub(r"\{(\w+)\}", lambda m: programs[m.group(1)], text)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          timeout=case.seconds * LIMIT, env=environment)
    return command, done


def missing_tools(case):
    words = [text.split()[0] for _, text in case.commands]
    tools = [w for w in words if re.match(r"(ib_|ibv_|rping|ucx)", w)] + list(case.needs)
    return [t for t in tools if shutil.which(t) is None]


def check_numbers(case, stdout, problems):
    for number in case.numbers:
        row = re.search(rf"^\[{number.line}\]\s+({number.size}\s+\d+\s+.*)$", stdout, re.M)
        if not row:
            problems.append(f"no result row for {number.size} bytes in the output of {number.line}")
            continue
        value = float(row.group(1).split()[number.column])
        if abs(value - number.expected) > number.tolerance * number.expected:
            problems.append(f"{number.size} bytes: {value} is not within {number.tolerance:.0%} of {number.expected}")


def innermost_is_ours(protocols):
    return "infiniband" not in protocols or protocols[-1] in ("infiniband", "data")


def check_capture(case, pcap_dir, problems):
    captures = sorted(pathlib.Path(pcap_dir).glob("*.pcap"))
    if not captures:
        problems.append("no capture was written")
        return
    mode = ["--check"] + (["--allow-unacked"] if case.pcap == "unacked" else [])
    for capture in captures:
        done = subprocess.run([sys.executable, str(SUPPORT / "rocedump.py"), *mode, str(capture)], capture_output=True,
                              text=True, timeout=300)
        if done.returncode != 0:
            problems.append(f"decoder on {capture.name}:\n" + "\n".join((done.stdout + done.stderr).splitlines()[:10]))
        if shutil.which("tshark"):
            # Complaints about what tshark takes the payload for (an Ethertype, RPC over RDMA, …) say nothing about our
            # headers: only frames whose innermost protocol is InfiniBand itself count.
            done = subprocess.run(["tshark", "-r", str(capture), "-Y", "_ws.malformed || _ws.expert.severity >= 0x600000",
                                   "-T", "fields", "-e", "frame.number", "-e", "frame.protocols", "-e", "_ws.expert.message"],
                                  capture_output=True, text=True, timeout=300)
            ours = [line for line in done.stdout.splitlines() if innermost_is_ours(line.split("\t")[1].split(":"))]
            if ours:
                problems.append(f"tshark complains about {capture.name}:\n" + "\n".join(ours[:5]))


def judge(case, done, problems):
    if done.returncode != case.exit:
        problems.append(f"exit code {done.returncode}, expected {case.exit}")
    for pattern in case.stdout:
        if not re.search(pattern, done.stdout, re.M):
            problems.append(f"stdout has no line like /{pattern}/")
    for pattern in case.stderr:
        if not re.search(pattern, done.stderr, re.M):
            problems.append(f"stderr has no line like /{pattern}/")
    for pattern in case.never:
        if re.search(pattern, done.stdout + done.stderr, re.M):
            problems.append(f"output has a line like /{pattern}/")
    check_numbers(case, done.stdout, problems)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simverbs", required=True)
    parser.add_argument("--programs", default="", help="folder of the test programs built from tests/programs/c")
    parser.add_argument("name")
    options = parser.parse_args()
    case = program_cases.by_name(options.name)
    built = own_programs(options.programs)
    missing = missing_tools(case) + [name for _, text in case.commands for name in re.findall(r"\{(\w+)\}", text)
                                     if name != "simverbs" and name not in built]
    if missing:
        print("skipped: not installed:", ", ".join(missing))
        return 77
    problems = []
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        first = None
        for i in range(case.runs):
            pcap_dir = pathlib.Path(folder) / f"run{i}" if case.pcap else None
            try:
                command, done = run_once(case, options.simverbs, own_programs(options.programs), pcap_dir)
            except subprocess.TimeoutExpired:
                print(f"FAILED {case.name}: still running after {case.seconds * LIMIT} s")
                return 1
            judge(case, done, problems)
            if pcap_dir and i == 0:
                check_capture(case, pcap_dir, problems)
            if first is None:
                first = (done.stdout, pcap_dir)
                continue
            if done.stdout != first[0]:
                problems.append(f"run {i + 1} printed other bytes than run 1:\n--- run 1\n{first[0]}\n--- run {i + 1}\n{done.stdout}")
            for capture in sorted(pcap_dir.glob("*.pcap")) if pcap_dir else []:
                if not filecmp.cmp(capture, first[1] / capture.name, shallow=False):
                    problems.append(f"run {i + 1}: {capture.name} differs from run 1's")
            if problems:
                break
    if problems:
        print("FAILED", case.name)
        print("  command:", " ".join(repr(c) if " " in c else c for c in command))
        for p in problems:
            print("  -", p)
        print("  stdout:\n" + done.stdout[-3000:])
        print("  stderr:\n" + done.stderr[-3000:])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
