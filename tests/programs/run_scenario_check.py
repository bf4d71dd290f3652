#!/usr/bin/env python3
"""Checks of scenarios with programs: `simverbs run` on those of the library, and on small ones. One function a check."""

import pathlib
import subprocess
import sys
import tempfile

import named_checks
import run_program_case
from named_checks import OPTIONS

LIBRARY = pathlib.Path(__file__).resolve().parent.parent.parent / "scenarios" / "library" / "scenarios"

PINGPONG = """
name: pingpong
hosts: 2
nic: cx7-400g
programs:
  - {name: server, host: h0, command: ibv_rc_pingpong -g 1 -n 20, ready: {listens: 18515}}
  - {name: client, host: h1, command: ibv_rc_pingpong -g 1 -n 20 h0, expect: {output: 20 iters}}
"""
# Programs of the system alone.
HEAD = "name: small\nhosts: 2\nnic: ideal\nprograms:\n"


def run_file(file):
    server, environment = run_program_case.server_and_environment(OPTIONS.simverbs)
    return subprocess.run([server, "run", str(file)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                          env=environment)


def run_text(text):
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        file = pathlib.Path(folder) / "s.yaml"
        file.write_text(text.replace("{folder}", folder))
        return run_file(file)


def expect(run, code, *texts):
    output = run.stdout + run.stderr
    if run.returncode != code:
        raise AssertionError(f"ended with {run.returncode}, expected {code}:\n{output}")
    for text in texts:
        if text not in output:
            raise AssertionError(f"says nothing of '{text}':\n{output}")


def a_lost_packet_is_found_and_the_programs_end_right():
    expect(run_file(LIBRARY / "pingpong_lost_packet.yaml"), 0, "passed pingpong_lost_packet")


def a_dead_cable_ends_in_the_status_of_retries():
    expect(run_file(LIBRARY / "retry_exceeded.yaml"), 0, "passed retry_exceeded")


def a_lossy_cable_costs_bandwidth_alone():
    expect(run_file(LIBRARY / "write_bw_lossy.yaml"), 0, "passed write_bw_lossy")


def a_wrong_expectation_fails_the_run():
    text = (LIBRARY / "pingpong_lost_packet.yaml").read_text()
    wrong = text.replace("fault at_the_end fired 1 times", "fault at_the_end fired 2 times")
    expect(run_text(wrong), 1, "fault at_the_end fired 2 times; it fired 1 time", "FAILED")
    wrong = (LIBRARY / "retry_exceeded.yaml").read_text().replace("expect: {exit: 1, ", "expect: {exit: 0, ")
    expect(run_text(wrong), 1, "program 'client' ended with exit code 1")
    wrong = (LIBRARY / "write_bw_lossy.yaml").read_text().replace("65536 +1000", "65536 +1001")
    expect(run_text(wrong), 1, "program 'client' printed nothing that matches '65536 +1001 +[1-9]'", "last of 'client':")


def a_fault_that_never_fires_fails_the_run():
    fault = "faults:\n  - {name: never, link: h0, drop: {match: {opcode: RC_FETCH_ADD}}}\n"
    expect(run_text(PINGPONG + fault), 1, "fault 'never' never fired")
    expect(run_text(PINGPONG + fault + "expectations:\n  - fault never never fired\n"), 0)


def a_fault_acts_on_no_more_packets_than_it_may():
    fault = "faults:\n  - {name: f, link: h1, direction: a_to_b, corrupt: {every: 10, most: 3}}\nexpectations:\n"
    expect(run_text(PINGPONG + fault + "  - fault f fired 3 times\n"), 0)


def the_same_scenario_prints_the_same_bytes():
    runs = [run_text(PINGPONG) for _ in range(2)]
    expect(runs[0], 0, "of simulated time")
    if runs[0].stdout != runs[1].stdout:
        raise AssertionError(runs[0].stdout + runs[1].stdout)


def a_timeout_is_simulated_and_ends_the_program():
    run = run_text(HEAD + "  - {host: h0, command: sleep 1000, timeout: 500 s}\n")
    expect(run, 1, "program 'program0' was ended after its timeout of 500000000.000 us")


def a_program_starts_when_the_one_before_is_ready():
    for ready in ("prints: '^up$'", "after: 4 s"):
        programs = ("  - {host: h0, command: \"sh -c 'sleep 3; touch {folder}/there; echo up; sleep 3'\", ready: {" + ready +
                    "}}\n  - {host: h1, command: test -e {folder}/there}\n")
        expect(run_text(HEAD + programs), 0, "2 programs in 6")
    at_once = "  - {host: h0, command: \"sh -c 'sleep 3; touch {folder}/there'\"}\n  - {host: h1, command: test -e {folder}/there}\n"
    expect(run_text(HEAD + at_once), 1, "program 'program1' ended with exit code 1")


def a_program_that_never_gets_ready_holds_up_the_next():
    programs = "  - {host: h0, command: echo down, ready: {prints: up}}\n  - {host: h1, command: echo hello}\n"
    expect(run_text(HEAD + programs), 1, "program 'program1' was not started, since 'program0' ended before it was ready")


def a_stall_is_reported_long_before_the_timeout():
    expect(run_text(HEAD + "  - {host: h0, command: ib_send_bw}\n"), 3, "nothing could happen any more", "waits: ")


def a_killed_host_takes_its_programs_with_it():
    text = HEAD + "  - {host: h0, command: sleep 10, expect: {exit: 137}}\nfaults:\n  - {name: end, kill: {host: h0, at: 2 s}}\n"
    expect(run_text(text), 0, "1 program in 2")


def a_scenario_captures_the_ports_that_it_names():
    server, environment = run_program_case.server_and_environment(OPTIONS.simverbs)
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        file = pathlib.Path(folder) / "s.yaml"
        file.write_text(PINGPONG + "outputs: {pcap: h1}\n")
        run = subprocess.run([server, "run", str(file), "--out", folder], stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=120, env=environment)
        expect(run, 0, "passed pingpong")
        captures = sorted(path.name for path in pathlib.Path(folder).rglob("*.pcap"))
        if captures != ["h1-mlx5_0-1.pcap"]:
            raise AssertionError(f"captures: {captures}")
    expect(run_text(PINGPONG + "outputs: {pcap: sw0}\n"), 2, "between programs only ports of adapters are captured")


def what_cannot_run_with_programs_is_said_all_at_once():
    text = PINGPONG + "workloads:\n  - {kind: all_to_all, bytes: 1 MiB}\nexpectations:\n  - never drops\n"
    expect(run_text(text), 2, "workloads and programs cannot run side by side yet", "'never drops' speaks of flows")
    fabric = PINGPONG.replace("hosts: 2\n", "topology: {kind: fat_tree, k: 4}\n")
    expect(run_text(fabric), 2, "programs cannot run on a generated 'fat_tree' yet")
    expect(run_text(HEAD + "  - {host: h0, command: no_such_program_here}\n"), 2, "no_such_program_here")


CHECKS = [a_lost_packet_is_found_and_the_programs_end_right, a_dead_cable_ends_in_the_status_of_retries,
          a_lossy_cable_costs_bandwidth_alone, a_wrong_expectation_fails_the_run, a_fault_that_never_fires_fails_the_run,
          a_fault_acts_on_no_more_packets_than_it_may, the_same_scenario_prints_the_same_bytes, a_timeout_is_simulated_and_ends_the_program,
          a_program_starts_when_the_one_before_is_ready, a_program_that_never_gets_ready_holds_up_the_next,
          a_stall_is_reported_long_before_the_timeout, a_killed_host_takes_its_programs_with_it,
          a_scenario_captures_the_ports_that_it_names, what_cannot_run_with_programs_is_said_all_at_once]


if __name__ == "__main__":
    sys.exit(named_checks.main(CHECKS, ["ib_send_bw", "ibv_rc_pingpong"]))
