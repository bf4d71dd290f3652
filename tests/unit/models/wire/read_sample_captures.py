#!/usr/bin/env python3
"""read_sample_captures.py {rocedump|tshark} WIRE_SAMPLE_CAPTURES ROCEDUMP

Lets another reader have a look at captures that models/wire wrote: it must find every packet and nothing wrong.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# XRC has its own files: Wireshark does not know its opcodes.
FILES = 5 + 5 + 3
# Wireshark guesses what the payload of a SEND is; these guesses of version 4.0 read past the end of an empty one,
# also in captures of the kernel's Soft-RoCE. The payload of a program means nothing to us: no guessing.
GUESSES = ("rpcordma", "infiniband.eoib")


def output_of(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout.splitlines(), result.stderr


def check_with_rocedump(path, rocedump):
    status, lines, errors = output_of([sys.executable, rocedump, "--check", "--min-packets", "40", path])
    return lines + errors.splitlines() + (["exit status %d" % status] if status else [])


def check_with_tshark(path, _):
    if os.path.basename(path).startswith("xrc_"):
        return []
    fields = ["frame.number", "infiniband.bth.opcode", "_ws.malformed", "_ws.expert.severity", "_ws.expert.message"]
    command = ["tshark", "-r", path, "-o", "ip.check_checksum:TRUE", "-T", "fields", "-E", "separator=|"]
    for protocol in GUESSES:
        command += ["--disable-protocol", protocol]
    for field in fields:
        command += ["-e", field]
    status, lines, errors = output_of(command)
    problems = ["exit status %d: %s" % (status, errors)] if status else []
    for line in lines:
        number, opcode, malformed, severity, message = line.split("|", 4)
        if not opcode:
            problems.append("frame %s is not dissected as InfiniBand transport" % number)
        if malformed or severity:
            problems.append("frame %s: %s" % (number, message or "malformed"))
    if len(lines) < 40:
        problems.append("only %d frames" % len(lines))
    return problems


def main(reader, writer, rocedump):
    if reader == "tshark" and shutil.which("tshark") is None:
        print("tshark is not installed")
        return SKIPPED
    check = {"rocedump": check_with_rocedump, "tshark": check_with_tshark}[reader]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([writer, folder], check=True)
        paths = sorted(glob.glob(os.path.join(folder, "*.pcap")))
        problems = [] if len(paths) == FILES else ["%d files instead of %d" % (len(paths), FILES)]
        for path in paths:
            problems += ["%s: %s" % (os.path.basename(path), text) for text in check(path, rocedump)]
    print("\n".join(problems) if problems else "%d files: nothing wrong" % len(paths))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
