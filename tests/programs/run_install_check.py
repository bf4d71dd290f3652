#!/usr/bin/env python3
"""Installs a build into a folder and uses it from there: with the source tree out of sight where the machine allows it."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMMANDS = ("exec", "up", "on", "down", "list", "run", "report", "check", "explain", "explain-schema")
# Hides the folder $0 and everything below it from the command that follows.
HIDE = 'mount -t tmpfs none "$0" && exec "$@"'


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def output(command, **kwargs):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, **kwargs)
    expect(done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def hiding(source_root):
    """Words before a command that then cannot see the sources; none where namespaces are forbidden."""
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", HIDE, str(source_root)]
    try:
        subprocess.run([*words, "true"], check=True, capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        print("the sources stay in sight: this machine allows no user namespaces")
        return []
    seen = subprocess.run([*words, "ls", str(source_root)], capture_output=True, text=True, timeout=20)
    expect(seen.stdout == "", "the sources were not hidden")
    return words


def check_runs(simverbs, hidden):
    labs = output([*hidden, simverbs, "list"], cwd="/")
    expect("two_hosts_roce " in labs and "two_hosts_ib " in labs, labs)
    if shutil.which("ibv_rc_pingpong") is None:
        return
    for lab, gid in (("two_hosts_roce", "-g 1 "), ("two_hosts_ib", "")):
        text = output([*hidden, simverbs, "exec", "--lab", lab, "h0", f"ibv_rc_pingpong {gid}", "h1", f"ibv_rc_pingpong {gid}h0"],
                      cwd="/")
        expect("1000 iters" in text, text)


def options_of_help(simverbs):
    texts = {command: output([simverbs, command, "--help"]) for command in COMMANDS}
    texts[""] = output([simverbs, "--help"])
    return {command: set(re.findall(r"^\s+(?:-\w,)?(--[a-z]+(?:-[a-z]+)*)", text, re.M)) for command, text in texts.items()}


def check_manual(page, options):
    told = set(re.findall(r"--[a-z]+(?:-[a-z]+)*", page.read_text().replace("\\-", "-")))
    wanted = set().union(*options.values())
    expect(wanted <= told, f"the manual lacks {sorted(wanted - told)}")
    foreign = {"--variable"}  # pkg-config's
    expect(told - foreign <= wanted, f"the manual tells of {sorted(told - wanted - foreign)}, which simverbs does not know")


def completions(script, simverbs, *words):
    code = f'source "{script}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _simverbs; printf "%s\\n" "${{COMPREPLY[@]}}"'
    return set(output(["bash", "--norc", "-c", code, "bash", simverbs, *words]).split())


def check_completion(script, simverbs, options):
    expect(completions(script, simverbs, "") == set(COMMANDS), "commands")
    expect(completions(script, simverbs, "--") == options[""], "options without a command")
    for command in COMMANDS:
        offered = completions(script, simverbs, command, "--")
        expect(offered == options[command], f"{command}: offers {sorted(offered)}, there are {sorted(options[command])}")
    expect({"two_hosts_ib", "two_hosts_roce"} <= completions(script, simverbs, "exec", "--lab", "two_hosts_"), "labs")
    expect(completions(script, simverbs, "exec", "h") == {"h0", "h1"}, "hosts of the default lab")
    expect(completions(script, simverbs, "exec", "--lab", "four_hosts", "h") == {"h0", "h1", "h2", "h3"}, "hosts of a lab")
    expect("true" in completions(script, simverbs, "exec", "h0", "tru"), "programs")


def check_pkg_config(root, prefix):
    file = next(root.rglob("simverbs.pc"))
    tool = shutil.which("pkg-config")
    if tool is None:
        return
    env = dict(os.environ, PKG_CONFIG_PATH=str(file.parent))
    for variable in ("simverbs", "preload", "labs"):
        path = output([tool, f"--variable={variable}", "simverbs"], env=env).strip()
        expect(path.startswith(prefix) and (root / path.lstrip("/")).exists(), f"{variable}={path} is not there")
    expect(re.fullmatch(r"\d+\.\d+\.\d+", output([tool, "--modversion", "simverbs"], env=env).strip()), "version")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--prefix", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        try:
            output(["meson", "install", "-C", options.build, "--no-rebuild", "--destdir", folder])
            root = pathlib.Path(folder)
            simverbs = str(root / options.prefix.lstrip("/") / "bin" / "simverbs")
            check_runs(simverbs, hiding(options.source))
            known = options_of_help(simverbs)
            check_manual(next(root.rglob("simverbs.1")), known)
            check_completion(next(root.rglob("completions/simverbs")), simverbs, known)
            check_pkg_config(root, options.prefix)
        except (AssertionError, subprocess.TimeoutExpired) as problem:
            print(f"FAILED\n{problem}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
