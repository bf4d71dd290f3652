#!/usr/bin/env python3
"""Checks of labs as a whole: several at once, ended by force, other seeds, a loaded machine. One function a check."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import named_checks
from named_checks import OPTIONS

# Simulated minutes of traffic: certainly still running when the check strikes.
LONG_RUN = ("--lab", "two_hosts_roce_10g", "h0", "ib_write_bw -D 100", "h1", "ib_write_bw -D 100 h0")


def simverbs(*args, **kwargs):
    return subprocess.run([OPTIONS.simverbs, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                          **kwargs)


def start(*args):
    return subprocess.Popen([OPTIONS.simverbs, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def remains(marker):
    """Processes whose environment carries `marker`: what a lab left behind."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if marker.encode() in (entry / "environ").read_bytes() and int(entry.name) != os.getpid():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            pass
    return found


def gone_soon(marker):
    """The same after a moment: processes that are just ending do not count."""
    deadline = time.monotonic() + 10
    while remains(marker) and time.monotonic() < deadline:
        time.sleep(0.1)
    return remains(marker)


def private_tmp(folder):
    """An environment in which everything that a lab puts into the file system can be seen."""
    env = dict(os.environ, TMPDIR=folder, XDG_RUNTIME_DIR=folder, SIMVERBS_TEST_MARK=folder)
    return env


def left_in(folder):
    return [str(p) for p in pathlib.Path(folder).rglob("*") if p.is_socket() or p.name.startswith("control")]


def four_labs_at_once_do_not_disturb_each_other():
    labs = [start("exec", "h0", "ib_send_lat -n 100", "h1", "ib_send_lat -n 100 h0") for _ in range(4)]
    outputs = []
    for lab in labs:
        out, err = lab.communicate(timeout=120)
        expect(lab.returncode == 0, f"a lab ended with {lab.returncode}:\n{out}{err}")
        outputs.append(out)
    expect(len(set(outputs)) == 1, "the four labs printed different bytes")


def the_lab_of_the_readme_can_be_copied_and_run():
    readme = (pathlib.Path(__file__).resolve().parent.parent.parent / "README.md").read_text()
    lab = re.search(r"```yaml\n(.*?name: my_lab\n.*?)```", readme, re.S).group(1)
    command = re.search(r"simverbs exec --lab my_lab.yaml (\w+) '(.*?)' (\w+) '(.*?)'", readme).groups()
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "my_lab.yaml").write_text(lab)
        checked = simverbs("check", "my_lab.yaml", cwd=folder)
        expect(checked.returncode == 0, checked.stdout + checked.stderr)
        run = simverbs("exec", "--lab", "my_lab.yaml", *command, cwd=folder)
        expect(run.returncode == 0 and "65536" in run.stdout, run.stdout + run.stderr)


def a_wrong_command_line_is_told_where_what_and_what_to_do():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "file"
        file.write_text("")
        pcap = f"{file}/in/it"
        told = {
            ("exec",): "simverbs: exec: no program is given; expected pairs of HOST 'COMMAND', such as: simverbs exec h0 "
                       "ib_send_bw h1 'ib_send_bw h0'",
            ("exec", "h0"): "simverbs: exec: 'h0' has no command; expected pairs of HOST 'COMMAND', such as: ",
            ("exec", "--seed", "abc", "h0", "true"):
                "simverbs exec: --seed: 'abc' is not a whole number; expected a whole number from 0, such as --seed 7",
            ("run", "--seed", "-1", "f"): "simverbs run: --seed: '-1' is not a whole number; expected a whole number from 0",
            ("run", "--threads", "65", "f"):
                "simverbs run: --threads: '65' is out of range; expected a whole number from 1 to 64, such as --threads 2",
            ("run", "--jobs", "many", "f"): "simverbs run: --jobs: 'many' is not a whole number; expected ",
            ("exec", "--clock", "wal", "h0", "true"):
                "simverbs exec: --clock: there is no 'wal'; expected one of virtual, wall; did you mean 'wall'?",
            ("up", "--sed", "1"): "simverbs up: there is no option '--sed'; did you mean '--seed'?",
            ("run", "--out"): "simverbs run: --out: has no value; expected --out DIR",
            ("run", "--out", "a", "--out", "b", "f"): "simverbs run: --out: is given more than once; expected one value",
            ("run",): "simverbs: run: no file is given; expected scenario files, such as: simverbs run FILE.yaml",
            ("check",): "simverbs: check: no file is given; expected scenario or lab files, such as: simverbs check ",
            ("on",): "simverbs: on: no host is given; expected simverbs on HOST -- COMMAND, such as: ",
            ("on", "h0"): "simverbs: on: no command is given; expected one behind '--', such as: simverbs on h0 -- ",
            ("list", "two_hosts_roce", "more"): "simverbs list: nothing is done with 'more'; expected no more words",
            ("exce", "h0", "true"): "simverbs: there is no command 'exce'; expected one of exec, up, on, down, run, report, list, "
                                    "check, explain, explain-schema; did you mean 'exec'?",
            (): "simverbs: no command is given; expected one of exec, up, ",
            ("exec", "--set", "wqe_process", "h0", "true"):
                "simverbs: --set 'wqe_process': sets nothing; expected NAME=VALUE, such as 'wqe_process=200 ns'",
            ("exec", "--set", "wqe_proces=1", "h0", "true"):
                "simverbs: --set wqe_proces=1: profiles have no parameter 'wqe_proces'; did you mean 'wqe_process'?\n",
            ("exec", "--lab", "two_host_roce", "h0", "true"): "simverbs: there is no lab 'two_host_roce'; expected one of ",
            ("up", "--name", "a/b"): "simverbs: --name: 'a/b' is not a name for a lab; expected a word without '/'",
            ("up", "--name", "t", "--pcap", pcap): f"simverbs: --pcap {pcap}: the folder cannot be made: Not a directory; ",
            ("exec", "h0", ""): "simverbs: the command is empty; expected a program and its arguments",
            ("list", "nowhere.yaml"): "simverbs: nowhere.yaml: there is no such file",
            ("exec", "--timeline", f"{folder}/no/page.html", "h0", "true"):
                f"simverbs: --timeline {folder}/no/page.html: there is no folder '{folder}/no'; make it, or choose a file in a ",
            ("exec", "--timeline", folder, "h0", "true"):
                f"simverbs: --timeline {folder}: is a folder; expected a file, such as timeline.html",
            ("up", "--name", "t", "--timeline", f"{file}/page.html"):
                f"simverbs: --timeline {file}/page.html: there is no folder '{file}'; ",
            ("exec", "--timeline-packets", "5", "h0", "true"):
                "simverbs: --timeline-packets 5: there is no timeline; expected also --timeline FILE.html",
            ("exec", "--timeline-packets", "0", "h0", "true"):
                "simverbs exec: --timeline-packets: '0' is out of range; expected a whole number from 1 to 1000000, such as ",
            ("exec", "--pcap", pcap, "h0", "true"):
                f"simverbs: --pcap {pcap}: the folder cannot be made: Not a directory; choose a folder that you may write to",
        }
        for words, text in told.items():
            run = simverbs(*words)
            expect(run.returncode == 2, f"{words} ended with {run.returncode}:\n{run.stdout}{run.stderr}")
            expect(run.stderr.startswith(text), f"{words} says:\n{run.stderr}\nexpected:\n{text}")
            expect(run.stdout == "", f"{words} prints {run.stdout}")


def a_command_s_help_tells_its_own_exit_codes():
    for command, text in (("exec", "a program failed"), ("run", "every expectation is met"), ("check", "all files are right")):
        told = simverbs(command, "--help").stdout
        expect(text in told and told.count("exit codes:") == 1, told)


def another_seed_gives_other_psns_and_the_same_verdict():
    runs = [simverbs("exec", "--seed", seed, "h0", "ibv_rc_pingpong -g 1", "h1", "ibv_rc_pingpong -g 1 h0")
            for seed in ("1", "1", "2")]
    for run in runs:
        expect(run.returncode == 0, run.stdout + run.stderr)
    psns = [re.findall(r"PSN (0x[0-9a-f]+)", run.stdout) for run in runs]
    expect(psns[0] == psns[1], "the same seed gave other PSNs")
    expect(psns[0] != psns[2], "another seed gave the same PSNs")


def a_loaded_core_changes_nothing():
    command = ("exec", "h0", "ib_send_lat -n 200", "h1", "ib_send_lat -n 200 h0")
    quiet = simverbs(*command)
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        loaded = simverbs(*command)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    expect(quiet.returncode == 0 and loaded.returncode == 0, loaded.stdout + loaded.stderr)
    expect(quiet.stdout == loaded.stdout, f"--- quiet\n{quiet.stdout}\n--- loaded\n{loaded.stdout}")


def interrupt_ends_everything():
    with tempfile.TemporaryDirectory() as folder:
        lab = subprocess.Popen([OPTIONS.simverbs, "exec", *LONG_RUN], env=private_tmp(folder),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        lab.send_signal(signal.SIGINT)
        lab.communicate(timeout=30)
        expect(lab.returncode != 0, "an interrupted lab must not end with 0")
        expect(not gone_soon(folder), f"left running: {remains(folder)}")
        expect(not left_in(folder), f"left in the file system: {left_in(folder)}")


def killing_the_tool_kills_its_programs():
    with tempfile.TemporaryDirectory() as folder:
        lab = subprocess.Popen([OPTIONS.simverbs, "exec", *LONG_RUN], env=private_tmp(folder),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)
        lab.kill()
        lab.wait()
        expect(not gone_soon(folder), f"left running: {remains(folder)}")


def killing_the_tool_kills_programs_that_left_its_session_too():
    for clock in ("virtual", "wall"):
        with tempfile.TemporaryDirectory() as folder:
            env = private_tmp(folder)
            own = subprocess.Popen(["sleep", "60"], env=env)  # of the same user, with the same mark, of no lab
            lab = subprocess.Popen([OPTIONS.simverbs, "exec", "--clock", clock, *LONG_RUN, "h0", "sh -c 'setsid ibv_rc_pingpong -g 1 & wait'"],
                                   env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 10
            while not any(p.startswith("ibv_rc_pingpong") for p in remains(folder)) and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.3)
            started = remains(folder)
            lab.kill()
            lab.wait()
            deadline = time.monotonic() + 10
            while len(remains(folder)) > 1 and time.monotonic() < deadline:
                time.sleep(0.1)
            left = remains(folder)
            own.kill()
            own.wait()
            expect(any(p.startswith("ibv_rc_pingpong") for p in started), f"started ({clock} clock): {started}")
            expect(left == ["sleep 60 "], f"left running after the tool was killed ({clock} clock): {left}")


def a_killed_program_ends_the_lab_with_a_clear_word():
    with tempfile.TemporaryDirectory() as folder:
        lab = subprocess.Popen([OPTIONS.simverbs, "exec", *LONG_RUN], env=private_tmp(folder),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        subprocess.run(["pkill", "-KILL", "-P", str(lab.pid)] if shutil.which("pkill") else
                       ["sh", "-c", f"for p in $(cat /proc/{lab.pid}/task/*/children); do kill -9 $p; done"], check=False)
        _, err = lab.communicate(timeout=30)
        expect(lab.returncode == 1, f"ended with {lab.returncode}: {err}")
        expect(re.search(r"ib_write_bw.*(signal|[Kk]illed)", err), err)


def children_of(pid):
    try:
        return sorted(int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    except OSError:
        return []


def a_program_killed_while_it_starts_ends_the_lab():
    for tenths_of_ms in range(0, 32, 3):
        lab = start("exec", "h0", "ib_write_bw -n 100", "h1", "ib_write_bw -n 100 h0")
        while not children_of(lab.pid) and lab.poll() is None:
            pass
        time.sleep(tenths_of_ms * 1e-4)
        os.kill(children_of(lab.pid)[0], signal.SIGKILL)
        try:
            _, err = lab.communicate(timeout=12)
        except subprocess.TimeoutExpired:
            lab.terminate()
            raise AssertionError(f"still running, its program was killed after {tenths_of_ms / 10} ms") from None
        expect(lab.returncode in (1, 3), f"ended with {lab.returncode}: {err}")


def a_statically_linked_program_is_one_clear_error():
    run = simverbs("exec", "h0", f"{OPTIONS.programs}/static_hello")
    expect(run.returncode == 2, f"ended with {run.returncode}: {run.stderr}")
    expect("static" in run.stderr, run.stderr)
    expect("hello" not in run.stdout, "it ran")


def a_lab_stays_up_for_two_terminals():
    with tempfile.TemporaryDirectory() as folder:
        env = private_tmp(folder)
        up = simverbs("up", "two_hosts_roce", "--timeline", f"{folder}/page.html", env=env)
        expect(up.returncode == 0, up.stdout + up.stderr)
        try:
            server = subprocess.Popen([OPTIONS.simverbs, "on", "h0", "--", "ibv_rc_pingpong", "-g", "1"], env=env,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(1)
            client = simverbs("on", "h1", "--", "ibv_rc_pingpong", "-g", "1", "h0", env=env)
            out, err = server.communicate(timeout=60)
            expect(client.returncode == 0, client.stdout + client.stderr)
            expect(server.returncode == 0, out + err)
            expect("1000 iters" in client.stdout and "1000 iters" in out, client.stdout + out)
        finally:
            down = simverbs("down", env=env)
        expect(down.returncode == 0, down.stdout + down.stderr)
        expect(not gone_soon(folder), f"left running: {remains(folder)}")
        page = timeline_data(pathlib.Path(folder, "page.html").read_text(encoding="utf-8"))
        expect(len(page["qps"]) == 2 and len(page["packets"]) > 2000, "`down` writes the timeline")


def timeline_data(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL).group(1))


def a_timeline_has_the_lost_packet_and_its_retransmission():
    lab = "name: lossy\nhosts: 2\nnic: cx6-200g\ntopology: single_switch\nlinks:\n  - {a: h1, b: sw0, faults: {drop_every: 13}}\n"
    with tempfile.TemporaryDirectory() as folder:
        base = pathlib.Path(folder)
        (base / "lossy.yaml").write_text(lab)
        pages = []
        for name, more in (("a", ()), ("b", ("--pcap", f"{folder}/wire")), ("few", ("--timeline-packets", "10"))):
            run = simverbs("exec", "--lab", f"{folder}/lossy.yaml", "--timeline", f"{folder}/{name}.html", *more,
                           "h0", "ibv_rc_pingpong -g 1 -n 20", "h1", "ibv_rc_pingpong -g 1 -n 20 h0")
            expect(run.returncode == 0, run.stdout + run.stderr)
            pages.append((base / f"{name}.html").read_text(encoding="utf-8"))
        expect(pages[0] == pages[1], "two runs, one of them captured, give different pages")
        data = timeline_data(pages[0])
        packets = data["packets"]
        lost = next(p for p in packets if p["fate"] == "lost" and p["kind"] == "request")
        expect("drop" in lost["what"] and "sw0" in lost["what"], f"where and why: {lost['what']}")
        again = [p for p in packets if p.get("again") and (p["psn"], p["s"]) == (lost["psn"], lost["s"]) and p["t"] > lost["r"]]
        expect(again, f"PSN {lost['psn']} is sent again")
        kinds = {event["kind"] for event in data["events"]}
        expect({"fault", "retransmission"} < kinds and kinds & {"timeout", "NAK"}, f"events: {kinds}")
        states = [[name for _, qp, name, _ in data["states"] if qp == i] for i, qp in enumerate(data["qps"])]
        expect(states == [["RESET", "INIT", "RTR", "RTS"]] * 2, f"states: {states}")
        sends = [w for w in data["work"] if w["send"]]
        expect(len(sends) == 40 and all(w["status"] == "SUCCESS" and w["end"] > w["t"] for w in sends), f"{len(sends)} sends")
        few = timeline_data(pages[2])
        expect(0 < len(few["packets"]) <= 10 and few["cut"], f"{len(few['packets'])} packets kept")
        expect(few["packets"] == packets[:len(few["packets"])], "what is kept is the beginning")
        expect(f"of {len(packets)} packets" in pages[2] and f"--timeline-packets {len(packets)} shows all" in pages[2],
               "the page says what is left out")


def a_timeline_names_the_messages_of_connections():
    with tempfile.TemporaryDirectory() as folder:
        run = simverbs("exec", "--timeline", f"{folder}/page.html", "h0", "rping -s -C 2 -v", "h1", "rping -c -a h0 -C 2 -v")
        expect(run.returncode == 0, run.stdout + run.stderr)
        packets = timeline_data(pathlib.Path(folder, "page.html").read_text(encoding="utf-8"))["packets"]
        names = [p["name"] for p in packets if p["kind"] == "mad"]
        for name in ("CM REQ", "CM REP", "CM RTU", "CM DREQ", "CM DREP"):
            expect(name in names, f"there is no {name} among {names}")


def a_killed_lab_that_was_up_makes_room_for_the_next():
    with tempfile.TemporaryDirectory() as folder:
        env = private_tmp(folder)
        expect(simverbs("up", "two_hosts_roce", env=env).returncode == 0, "up")
        state = next(pathlib.Path(folder).rglob("lab.up"))
        os.kill(int(state.read_text().split()[0]), signal.SIGKILL)
        for _ in range(100):
            on = simverbs("on", "h0", "--", "true", env=env)
            if on.returncode == 2:
                break
            time.sleep(0.05)
        expect(on.returncode == 2 and "has died" in on.stderr, f"{on.returncode}: {on.stderr}")
        up = simverbs("up", "two_hosts_ib", env=env)
        expect(up.returncode == 0, up.stderr)
        expect(simverbs("down", env=env).returncode == 0, "down")
        expect(not list(pathlib.Path(folder).iterdir()), f"left: {list(pathlib.Path(folder).rglob('*'))[:5]}")


def a_hostile_program_is_refused_and_its_neighbours_notice_nothing():
    hostile = pathlib.Path(OPTIONS.programs) / "hostile"
    for server, client in (("ibv_rc_pingpong -g 1", "ibv_rc_pingpong -g 1 h0"), ("ib_write_bw -n 1000", "ib_write_bw -n 1000 h0")):
        # Its own garbage may leave it waiting for ever: it is killed.
        run = simverbs("exec", "h0", server, "h1", client, "h1", f"timeout -s KILL 0.05 {hostile}")
        told = run.stdout + run.stderr
        expect("shrunk" not in told and "0 handles of others" in told, told)
        # Like an adapter's, the pages of registered memory may outlive its mapping.
        expect("written to nowhere: " in told, told)
        expect("written while it was read: yes" in told and "writing garbage" in told, told)
        if "pingpong" in server:
            expect(told.count("8192000 bytes in ") == 2 and told.count("1000 iters in ") == 2, told)
        else:
            expect(len(re.findall(r"^.*65536 +1000 +\d", told, re.M)) == 2, told)
        expect(told.count("connections to the lab's socket without a hello") <= 1, f"told once at most, with who: {told}")


def what_a_program_writes_over_others_waits_and_clocks_changes_nothing():
    told = {}
    for what in ("idle", "garbage"):
        run = simverbs("exec", "h0", "ib_send_lat -n 300", "h1", "ib_send_lat -n 300 h0", "h1", f"{OPTIONS.programs}/scribbler {what}")
        expect(run.returncode == 0 and "scribbled: yes" in run.stdout and "note" not in run.stderr, run.stdout + run.stderr)
        told[what] = sorted(run.stdout.splitlines())
    expect(told["idle"] == told["garbage"], f"its neighbours print other numbers:\n{told['idle']}\n{told['garbage']}")


CHECKS = [the_lab_of_the_readme_can_be_copied_and_run, a_wrong_command_line_is_told_where_what_and_what_to_do,
          a_command_s_help_tells_its_own_exit_codes, four_labs_at_once_do_not_disturb_each_other, another_seed_gives_other_psns_and_the_same_verdict,
          a_loaded_core_changes_nothing, interrupt_ends_everything, killing_the_tool_kills_its_programs,
          killing_the_tool_kills_programs_that_left_its_session_too,
          a_killed_program_ends_the_lab_with_a_clear_word, a_hostile_program_is_refused_and_its_neighbours_notice_nothing,
          a_program_killed_while_it_starts_ends_the_lab, a_statically_linked_program_is_one_clear_error,
          a_timeline_has_the_lost_packet_and_its_retransmission, a_timeline_names_the_messages_of_connections,
          a_lab_stays_up_for_two_terminals, a_killed_lab_that_was_up_makes_room_for_the_next,
          what_a_program_writes_over_others_waits_and_clocks_changes_nothing]


if __name__ == "__main__":
    sys.exit(named_checks.main(CHECKS, ["ib_send_lat"]))
