#!/usr/bin/env python3
"""Checks of scenarios inside SystemC designs, with the examples of docs/tutorials/systemc. One function a check."""

import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"
sys.path.insert(0, str(PROGRAMS))
import named_checks
import run_program_case
import run_scenario_check
from named_checks import OPTIONS


def hosted(file, folder, example="hosted_fabric", *arguments):
    _, environment = run_program_case.server_and_environment(OPTIONS.simverbs)
    build = pathlib.Path(OPTIONS.simverbs).parent.parent
    environment.setdefault("SIMVERBS_PRELOAD", str(build / "verbs_shim/client/libsimverbs-preload.so"))
    return subprocess.run([f"{OPTIONS.programs}/{example}", str(file), folder, *arguments], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, env=environment)


def programs_and_flows_go_the_same_way_inside_a_design():
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        file = pathlib.Path(folder) / "s.yaml"
        file.write_text(run_scenario_check.MIXED)
        run = hosted(file, f"{folder}/hosted")
        run_scenario_check.expect(run, 0, "passed mixed")
        ended = float(re.search(r"2 programs in ([0-9.]+) us", run.stdout)[1]) * 1e3
        clock, cycles = map(int, re.search(r"clock stands at (\d+)\d{3} ps after (\d+) cycles", run.stdout).groups())
        if not 0 <= clock - ended <= 10 or abs(cycles - ended / 10) > 2:
            raise AssertionError(f"the scenario took {ended} ns, the design {clock} ns and {cycles} cycles of 10 ns")
        run_scenario_check.expect(run_scenario_check.run_file(file, "--out", f"{folder}/alone"), 0)
        inside = run_scenario_check.files_of(f"{folder}/hosted")
        alone = run_scenario_check.files_of(f"{folder}/alone/mixed")
        if inside != alone:
            raise AssertionError(f"the results differ: {[n for n in alone if inside.get(n) != alone[n]]}")


def mistakes_in_the_file_are_told_before_the_design_runs():
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        file = pathlib.Path(folder) / "s.yaml"
        file.write_text("name: wrong\nhosts: 2\nnik: ideal\nrun: {threads: 2}\n")
        run_scenario_check.expect(hosted(file, f"{folder}/out"), 2, "s.yaml:3:1", "nik")
        file.write_text(run_scenario_check.MIXED + "run: {threads: 2}\n")
        run_scenario_check.expect(hosted(file, f"{folder}/out"), 2, "inside a SystemC design a scenario has one thread")


READS = """
name: reads
hosts: 2
platform: two_socket
nic: cx6-200g
programs:
  - {name: server, host: h0, command: ib_read_lat -n 100 -s 8, ready: {listens: 18515}}
  - {name: client, host: h1, command: ib_read_lat -n 100 -s 8 h0, expect: {output: '8 +100 '}}
"""


def simulated_time(run):
    return float(re.search(r"2 programs in ([0-9.]+) us", run.stdout)[1])


def a_users_tlm_memory_takes_the_place_of_a_hosts():
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        file = pathlib.Path(folder) / "s.yaml"
        file.write_text(READS)
        took = {}
        for nanoseconds in ("100", "1100"):
            run = hosted(file, f"{folder}/{nanoseconds}", "user_memory", "h0/node0", nanoseconds)
            run_scenario_check.expect(run, 0, "passed reads", "h0/node0: ")
            reads, writes = map(int, re.search(r"h0/node0: (\d+) reads, (\d+) writes", run.stdout).groups())
            if reads < 100:
                raise AssertionError(f"100 RDMA READs of 8 bytes reached the memory {reads} times")
            took[nanoseconds] = simulated_time(run)
        # Each READ waits for the memory once, and its completion's writes are the other host's matter.
        if not 100 <= took["1100"] - took["100"] <= 400:
            raise AssertionError(f"a microsecond more in the memory makes 100 READs take {took['1100']} us, not {took['100']} us")
        wrong = hosted(file, f"{folder}/wrong", "user_memory", "h0/node7", "100")
        run_scenario_check.expect(wrong, 2, "there is no part of a host 'h0/node7'", "h0/node0", "h1/nic0 up")


CHECKS = [programs_and_flows_go_the_same_way_inside_a_design, mistakes_in_the_file_are_told_before_the_design_runs,
          a_users_tlm_memory_takes_the_place_of_a_hosts]

if __name__ == "__main__":
    sys.exit(named_checks.main(CHECKS, ["ib_write_lat"]))
