#!/usr/bin/env python3
"""Checks of scenarios with programs: `simverbs run` on those of the library, and on small ones. One function a check."""

import contextlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

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


# An ib_write_lat across a fat tree, beside flows; its packets cross the wires from 240 ms to 242 ms.
MIXED = """
name: mixed
topology: {kind: fat_tree, k: 4}
nic: cx5-100g
link: {rate: 100 Gb/s, delay: 1 us}
switch: {buffer: 4 MB, pfc: {priorities: 3}}
programs:
  - {name: server, host: h0, command: ib_write_lat -s 8 -n 100 -S 3, ready: {listens: 18515}}
  - {name: client, host: h15, command: ib_write_lat -s 8 -n 100 -S 3 h0, expect: {output: '8 +100 '}}
workloads:
  - {name: incast, kind: incast, senders: [h4, h5, h6, h7, h8], receiver: h1, bytes: 800 KB, start: 239 ms, bursts: 5, period: 1 ms}
  - {name: noise, kind: poisson, cdf: websearch, load: 10 %, from: 240 ms, until: 241 ms}
outputs: {series: {interval: 100 us, what: [queue, pauses], at: [tor0, h15]}, pcap: [h0, h15]}
expectations:
  - all flows complete
  - never drops
  - pfc_pauses > 0
"""


def run_file(file, *options):
    server, environment = run_program_case.server_and_environment(OPTIONS.simverbs)
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        out = [] if "--out" in options else ["--out", folder]
        return subprocess.run([server, "run", str(file), *out, *options], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120, env=environment)


def run_text(text, *options):
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        file = pathlib.Path(folder) / "s.yaml"
        file.write_text(text.replace("{folder}", folder))
        return run_file(file, "--out", f"{folder}/out", *options)


@contextlib.contextmanager
def results_of(pingpong):
    """The folder of a run of the scenario `pingpong`, which must pass, until the end of the `with`."""
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        file = pathlib.Path(folder) / "s.yaml"
        file.write_text(pingpong)
        expect(run_file(file, "--out", folder), 0, "passed pingpong")
        yield pathlib.Path(folder)


def files_of(folder):
    """Every file below, by name; the only numbers that differ from run to run are left out."""
    files = {}
    for file in sorted(pathlib.Path(folder).rglob("*")):
        if file.is_file() and file.name != "report.html":
            text = file.read_bytes()
            files[str(file.relative_to(folder))] = re.sub(rb'"wall_[a-z_]*": [0-9.e-]+', b"", text)
    return files


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


def a_slot_that_loses_lanes_halves_the_bandwidth_and_the_links_say_so():
    file = LIBRARY / "half_width_slot.yaml"
    outputs = []
    for _ in range(2):
        with tempfile.TemporaryDirectory(prefix="svt-") as folder:
            expect(run_file(file, "--out", folder), 0, "passed half_width_slot", "fault 'lanes' fired")
            outputs.append(files_of(folder))
    if outputs[0] != outputs[1]:
        raise AssertionError("two runs write different files")
    lines = next(text for name, text in outputs[0].items() if name.endswith("pcie.csv")).decode().splitlines()
    busiest = {}
    for host, part, _, _, _, _, share in (line.split(",") for line in lines[1:]):
        busiest[host, part] = max(busiest.get((host, part), 0), float(share))
    # It reads what it sends, over the downstream half of the link.
    if not busiest["h1", "nic1 down"] > 1.8 * busiest["h0", "nic1 up"] > 0.5:
        raise AssertionError(f"{busiest}")
    text = file.read_text()
    wrong = run_text(text.replace("slot: h1/nic1, width: 8}", "slot: h1/nic1, width: 8, from: 100 s}"))
    expect(wrong, 1, "fault 'lanes' never fired: the run had ended before")


def a_platform_that_nothing_would_pass_is_refused():
    text = "hosts: 2\nnic: cx6-200g\nplatform: two_socket\nworkloads: [{kind: incast, senders: [h0], receiver: h1, bytes: 1 MB}]\n"
    expect(run_text(text), 2, "nothing passes this platform: flows are sent by an ideal host")


def a_wrong_expectation_fails_the_run():
    text = (LIBRARY / "pingpong_lost_packet.yaml").read_text()
    wrong = text.replace("fault at_the_end fired 1 times", "fault at_the_end fired 2 times")
    expect(run_text(wrong), 1, "fault 'at_the_end' fired once, expected: 2 times", "FAILED")
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
    told = [run.stdout.partition("results: ")[0] for run in runs]  # behind it: a folder of each run's own
    if told[0] != told[1]:
        raise AssertionError("".join(told))


def a_program_s_text_is_the_same_twenty_times():
    both = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; sleep 0.01; done"
    text = HEAD + f"  - {{name: both, host: h0, command: [sh, -c, '{both}']}}\n"
    texts = set()
    for _ in range(20):
        with tempfile.TemporaryDirectory(prefix="svt-") as folder:
            file = pathlib.Path(folder) / "s.yaml"
            file.write_text(text)
            expect(run_file(file, "--out", f"{folder}/out"), 0)
            texts.add((pathlib.Path(folder) / "out/small/programs/both.txt").read_text())
    lines = [f"{stream} {i}\n" for stream in ("out", "err") for i in range(1, 10)]
    if texts != {"".join(lines)}:
        raise AssertionError(f"{len(texts)} different texts, one of them:\n{min(texts)}")


def a_killed_run_leaves_no_result():
    server, environment = run_program_case.server_and_environment(OPTIONS.simverbs)
    text = HEAD.replace("ideal", "cx7-400g") + ("  - {host: h0, command: ib_write_bw -D 100, ready: {listens: 18515}}\n"
                                               "  - {host: h1, command: ib_write_bw -D 100 h0}\noutputs: {pcap: [h0]}\n")
    with tempfile.TemporaryDirectory(prefix="svt-") as name:
        folder = pathlib.Path(name)
        (folder / "s.yaml").write_text(text)
        result = folder / "out/small/result.json"
        result.parent.mkdir(parents=True)
        result.write_text("of an earlier run")
        with subprocess.Popen([server, "run", str(folder / "s.yaml"), "--out", str(folder / "out")], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            deadline = time.monotonic() + 30
            captures = list(folder.rglob("*.pcap"))
            while run.poll() is None and time.monotonic() < deadline and not any(c.stat().st_size > 0 for c in captures):
                time.sleep(0.05)
                captures = list(folder.rglob("*.pcap"))
            if run.poll() is not None or not captures:
                raise AssertionError(f"it has ended ({run.poll()}) or captures nothing: {captures}")
            run.kill()
        if result.exists():
            raise AssertionError("a killed run must leave no result.json")


def a_folder_that_cannot_be_made_is_told_before_the_run():
    text = HEAD + "  - {host: h0, command: sleep 100}\n"
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        file = pathlib.Path(folder) / "s.yaml"
        file.write_text(text)
        for words in (("--out", f"{file}/out"), ("--out", f"{folder}/out", "--junit", f"{file}/in/x.xml")):
            expect(run_file(file, *words), 2, "Not a directory")


def check_and_run_find_the_same():
    wrong = [HEAD.replace("nic: ideal", "nic: {profile: ideal, mtu: 12}") +
             "  - {name: s, host: h0, command: []}\n  - {name: c, host: h3, command: no_such_program h0}\n"
             "  - {name: d, host: h1, command: [true]}\nfaults:\n  - {kill: {switch: sw7, at: 1 us}}\n"
             "  - {link: h1, drop: {match: {flow: 3}}}\noutputs: {pcap: [h1, sw0]}\n",
             MIXED.replace("cx5-100g", "{profile: cx5-100g, parameters: {wqe_proces: 3 ns}}").replace("at: [tor0", "at: [tor9")
             .replace("receiver: h1,", "receiver: h15,").replace("name: server, host: h0", "name: server, host: h77")]
    for text, count in zip(wrong, (7, 4)):
        with tempfile.TemporaryDirectory(prefix="svt-") as folder:
            file = pathlib.Path(folder) / "s.yaml"
            file.write_text(text)
            server, environment = run_program_case.server_and_environment(OPTIONS.simverbs)
            told = [subprocess.run([server, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                                   env=environment) for words in (["check", file], ["run", file, "--out", f"{folder}/out"])]
        expect(told[0], 2)
        expect(told[1], 2)
        if told[0].stderr != told[1].stderr or told[0].stderr.count("\n") != count:
            raise AssertionError(f"expected {count} mistakes; check:\n{told[0].stderr}\nrun:\n{told[1].stderr}")


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
    with results_of(PINGPONG + "outputs: {pcap: h1}\n") as folder:
        captures = sorted(path.name for path in folder.rglob("*.pcap"))
        if captures != ["h1-mlx5_0-1.pcap"]:
            raise AssertionError(f"captures: {captures}")
    expect(run_text(PINGPONG + "outputs: {pcap: sw0}\n"), 2, "the packets of 'sw0' cannot be captured")


def a_scenario_writes_a_timeline_of_its_programs():
    with results_of(PINGPONG + "outputs: {timeline: true, timeline_packets: 30}\n") as folder:
        page = (folder / "pingpong" / "timeline.html").read_text(encoding="utf-8")
        for part in ("the first 30 of", "outputs.timeline_packets:", "ibv_rc_pingpong -g 1 -n 20 h0", '"name":"RC_SEND_FIRST"'):
            if part not in page:
                raise AssertionError(f"the timeline lacks {part!r}")
    flows = "name: f\nhosts: 2\nworkloads:\n  - {name: w, kind: flows, flows: [{src: h0, dst: h1, bytes: 1 MB}]}\n"
    expect(run_text(flows + "outputs: {timeline: true}\n"), 2,
           "outputs.timeline: a timeline shows programs' queue pairs, and this scenario has no programs; expected also 'programs'")


def what_cannot_run_with_programs_is_said_all_at_once():
    text = PINGPONG + ("workloads:\n  - {name: w, kind: flows, flows: [{src: h0, dst: h1, bytes: 1 MB}]}\n"
                       "outputs: {pcap: sw0/1}\n")
    expect(run_text(text), 2, "'h0' runs programs and cannot have flows too", "'h1' runs programs and cannot have flows too",
           "the packets of 'sw0/1' cannot be captured")
    elsewhere = PINGPONG.replace("hosts: 2\n", "topology: {kind: fat_tree, k: 4}\n").replace("host: h1", "host: h16")
    expect(run_text(elsewhere), 2, "there is no host 'h16'")
    expect(run_text(HEAD + "  - {host: h0, command: no_such_program_here}\n"), 2, "no_such_program_here")


def programs_and_flows_share_a_fat_tree():
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        file = pathlib.Path(folder) / "s.yaml"
        file.write_text(MIXED)
        expect(run_file(file, "--out", folder), 0, "passed mixed: 2 programs", "incast", "5 of 5 expectations are met")
        result = json.loads((pathlib.Path(folder) / "mixed/result.json").read_text())
        client = next(p for p in result["programs"] if p["name"] == "client")
        if client["exit_code"] != 0 or client["host"] != "h15":
            raise AssertionError(client)
        sent = {p["name"]: p["tx_packets"] for p in result["ports"]}
        # 100 writes and 100 acknowledgements, and as many from the other side.
        if sent["h15"] < 200 or sent["h0"] < 200 or sent["h4"] < 200:
            raise AssertionError(sent)
        text = (pathlib.Path(folder) / "mixed/programs/client.txt").read_text()
        typical, longest = (float(n) for n in re.search(r"8 +100 +[\d.]+ +([\d.]+) +([\d.]+)", text).group(2, 1))
        if not longest > 2 * typical:
            raise AssertionError(f"the incast does not show in the latencies:\n{text}")


def programs_beside_flows_give_the_same_bytes_twice():
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        file = pathlib.Path(folder) / "s.yaml"
        file.write_text(MIXED)
        results = []
        for out in ("a", "b"):
            expect(run_file(file, "--out", f"{folder}/{out}"), 0)
            results.append(files_of(f"{folder}/{out}"))
        for name in ("result.json", "flows.csv", "series.csv", "pcap/h15-mlx5_0-1.pcap", "programs/client.txt"):
            if f"mixed/{name}" not in results[0]:
                raise AssertionError(f"no {name} among {list(results[0])}")
        different = [name for name in results[0] if results[0][name] != results[1].get(name)]
        if different:
            raise AssertionError(f"differ: {different}")


def flows_go_on_when_the_programs_have_ended():
    text = HEAD + "  - {host: h0, command: sleep 0.001}\nworkloads:\n  - {name: late, kind: flows, flows: [" \
                  "{src: h1, dst: h2, bytes: 1 MB, start: 5 ms}]}\nexpectations:\n  - all flows complete\n"
    expect(run_text(text.replace("hosts: 2", "hosts: 3")), 0, "1 of 1 completed", "all flows have ended at 5.")


def a_run_of_both_ends_when_its_time_is_over():
    text = HEAD + "  - {host: h0, command: sleep 10, expect: {exit: 137}, timeout: 2 s}\nworkloads:\n" \
                  "  - {name: late, kind: flows, flows: [{src: h1, dst: h2, bytes: 1 MB, start: 4 s}]}\n" \
                  "run: {until: 3 s}\nexpectations:\n  - unfinished == 1\n"
    run = run_text(text.replace("hosts: 2", "hosts: 3"))
    expect(run, 1, "was ended after its timeout of 2000000.000 us", "the time was over at 3 s", "unfinished is 1, as expected")


def a_link_fault_of_a_fabric_hits_programs_and_flows():
    text = MIXED + "  - fault lossy fired\nfaults:\n  - {name: lossy, link: h15, drop: {packet: 50}}\n" \
                   "  - {name: other, link: h8, drop: {packet: 50}}\n"
    expect(run_text(text), 0, "passed mixed", "retransmissions")


def programs_of_infiniband_fabrics_have_credits_and_lids():
    expect(run_file(LIBRARY / "write_bw_beside_poisson_ib.yaml"), 0, "passed write_bw_beside_poisson_ib")


def an_incast_shows_in_the_latency_of_its_own_class():
    for name in ("latency_under_incast", "latency_without_pause", "latency_with_dcqcn"):
        expect(run_file(LIBRARY / f"{name}.yaml"), 0, f"passed {name}")
    text = (LIBRARY / "latency_under_incast.yaml").read_text()
    expect(run_text(text, "--set", "sl=0"), 1, "program 'client' printed nothing that matches")


def every_scenario_of_the_library_meets_its_expectations():
    for file in sorted(LIBRARY.glob("*.yaml")):
        text = file.read_text()
        if file.stem == "websearch_30" or "\nprograms:" in text:
            continue  # takes minutes; those with programs are checks of their own
        expect(run_file(file), 0, "expectations are met")


def a_traffic_class_has_the_class_that_the_maps_give_its_dscp():
    text = (LIBRARY / "latency_under_incast.yaml").read_text().replace("-S ${sl}", "--tclass=40")
    text = text.replace("nic: cx5-100g", "nic: {profile: cx5-100g, dscp_map: {10: 3}}")
    text = text.replace("switch: {", "switch: {dscp_map: {10: 3}, ")
    expect(run_text(text), 0, "passed latency_under_incast")
    expect(run_text(text.replace("{10: 3}", "{10: 5}")), 1, "program 'client' printed nothing that matches")


def check_refuses_what_no_run_can_tell():
    text = PINGPONG + "expectations:\n  - headroom of h1 < 10 KB\n  - drops of queue sw0/1 priority 3 == 0\n"
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        file = pathlib.Path(folder) / "s.yaml"
        file.write_text(text)
        server, environment = run_program_case.server_and_environment(OPTIONS.simverbs)
        run = subprocess.run([server, "check", str(file)], capture_output=True, text=True, timeout=120, env=environment)
        expect(run, 2, "expectations[0]: 'headroom' is of switches; ask for the switch's port",
               "expectations[1]: 'drops' is not measured by priority; ask for the whole port")


def runs_are_set_side_by_side():
    text = ("name: small\nhosts: 3\nnic: ideal\nworkloads:\n"
            "  - {name: incast, kind: incast, senders: [h1, h2], receiver: h0, bytes: 100 KB}\n"
            "outputs: {series: {interval: 5 us, what: [queue, rate], at: [sw0]}}\nexpectations:\n  - all flows complete\n")
    server, environment = run_program_case.server_and_environment(OPTIONS.simverbs)
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        base = pathlib.Path(folder)
        (base / "s.yaml").write_text(text)
        for name, size in (("a", "100 KB"), ("b", "200 KB")):
            expect(run_file(base / "s.yaml", "--out", f"{folder}/{name}", "--set", f"workloads[0].bytes={size}"), 0)

        def report(*words):
            return subprocess.run([pathlib.Path(server).resolve(), "report", *words], capture_output=True, text=True, timeout=120,
                                  env=environment, cwd=folder)

        expect(report("a", "b", "--out", "page.html"), 0)
        run = report("a", "b")
        expect(run, 0, "expectations met", "  FCT p99", "  pause time", "page: simverbs-report.html")
        ratio = float(re.search(r"  FCT p50 .* ([0-9.]+)$", run.stdout, re.MULTILINE).group(1))
        if not 1.5 < ratio < 2.5:
            raise AssertionError(f"twice the bytes take {ratio} times as long\n{run.stdout}")
        if (base / "page.html").read_bytes() != (base / "simverbs-report.html").read_bytes():
            raise AssertionError("two pages of the same runs differ")
        wrong = report("a", "a", "s.yaml")
        expect(wrong, 2, "a: is given twice", "s.yaml: is no folder")
        if wrong.stdout:
            raise AssertionError(wrong.stdout)


CHECKS = [every_scenario_of_the_library_meets_its_expectations, runs_are_set_side_by_side, a_folder_that_cannot_be_made_is_told_before_the_run, check_and_run_find_the_same, a_program_s_text_is_the_same_twenty_times, a_killed_run_leaves_no_result,
          a_lost_packet_is_found_and_the_programs_end_right, a_dead_cable_ends_in_the_status_of_retries,
          a_lossy_cable_costs_bandwidth_alone, a_slot_that_loses_lanes_halves_the_bandwidth_and_the_links_say_so,
          a_platform_that_nothing_would_pass_is_refused, a_wrong_expectation_fails_the_run, a_fault_that_never_fires_fails_the_run,
          a_fault_acts_on_no_more_packets_than_it_may, the_same_scenario_prints_the_same_bytes,
          a_timeout_is_simulated_and_ends_the_program, a_program_starts_when_the_one_before_is_ready,
          a_program_that_never_gets_ready_holds_up_the_next, a_stall_is_reported_long_before_the_timeout,
          a_killed_host_takes_its_programs_with_it, a_scenario_captures_the_ports_that_it_names,
          a_scenario_writes_a_timeline_of_its_programs,
          what_cannot_run_with_programs_is_said_all_at_once,
          programs_and_flows_share_a_fat_tree, programs_beside_flows_give_the_same_bytes_twice,
          flows_go_on_when_the_programs_have_ended, a_run_of_both_ends_when_its_time_is_over,
          a_link_fault_of_a_fabric_hits_programs_and_flows, programs_of_infiniband_fabrics_have_credits_and_lids,
          an_incast_shows_in_the_latency_of_its_own_class, a_traffic_class_has_the_class_that_the_maps_give_its_dscp,
          check_refuses_what_no_run_can_tell]


if __name__ == "__main__":
    sys.exit(named_checks.main(CHECKS, ["ib_send_bw", "ib_write_bw", "ib_write_lat", "ibv_rc_pingpong"]))
