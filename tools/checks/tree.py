#!/usr/bin/env python3
"""Checks all tracked files: what stands at the top level, what may include whom, and what must not land.

A line that must hold a forbidden word on purpose ends with the comment "check_tree: ok".
"""
import pathlib
import re
import subprocess
import sys

TOP_LEVEL = {"meson.build", "meson_options.txt", "README.md", "LICENSE",
             "sim", "verbs_shim", "models", "scenarios", "tests", "tools", "docs"}
MAX_BYTES = 1_000_000
ALLOWED = "check_tree: ok"
# Written so that this file does not match itself.
FORBIDDEN = {
    "a path of somebody's machine": re.compile(r"/(hom[e]|User[s])/[a-z]|/roo[t]/|/tm[p]/bash_jobs|(^|[\s\"'=:(])/wor[k]/"),
    "unfinished work": re.compile(r"\b(TOD[O]|FIXM[E]|XX[X]:|HAC[K]:)"),
    "a merge conflict": re.compile(r"^(<{7} |>{7} )"),
}
# DESIGN: sim <- models <- verbs_shim/server <- scenarios <- tools; the half in the application sees protocol only.
SOURCE_FOLDERS = {"sim", "models", "verbs_shim", "scenarios", "tools", "tests"}
MAY_INCLUDE = {
    "sim": {"sim"},
    "models": {"sim", "models"},
    "verbs_shim/protocol": {"verbs_shim/protocol"},
    "verbs_shim/server": {"sim", "models", "verbs_shim/protocol", "verbs_shim/server"},
    "scenarios": {"sim", "models", "verbs_shim/protocol", "verbs_shim/server", "scenarios"},
    "tools": {"sim", "models", "verbs_shim/protocol", "verbs_shim/server", "scenarios", "tools"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def part_of(path: str) -> str:
    """The part of the design that a file belongs to: its top folder, or for the shim the folder below it."""
    pieces = path.split("/")
    return "/".join(pieces[:2]) if pieces[0] == "verbs_shim" else pieces[0]


def allowed_parts(part: str) -> set[str] | None:
    if part.startswith("verbs_shim/") and part not in MAY_INCLUDE:
        return None  # the half in the application: every folder of the shim but the server's, no other part
    return MAY_INCLUDE.get(part)


def check_include(path: str, number: int, line: str) -> list[str]:
    match = INCLUDE.match(line)
    part = part_of(path)
    if not match or "/" not in match[1] or part == "tests":
        return []
    included = part_of(match[1])
    if included.split("/")[0] not in SOURCE_FOLDERS:
        return []
    allowed = allowed_parts(part)
    if allowed is None:
        fine = included.startswith("verbs_shim/") and included != "verbs_shim/server"
    else:
        fine = included in allowed
    return [] if fine else [f"{path}:{number}: {part} must not include {match[1]}"]


def check_text(path: str, text: str) -> list[str]:
    problems = []
    is_source = path.endswith((".cpp", ".hpp", ".c", ".h"))
    for number, line in enumerate(text.splitlines(), 1):
        if line.rstrip().endswith(ALLOWED):
            continue
        problems += [f"{path}:{number}: {what}: {line.strip()[:100]}"
                     for what, pattern in FORBIDDEN.items() if pattern.search(line)]
        if is_source:
            problems += check_include(path, number, line)
    return problems


def main() -> int:
    listing = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True)
    paths = [path for path in listing.stdout.split("\0") if path]
    problems = []
    for name in sorted({path.split("/")[0] for path in paths}):
        if not name.startswith(".") and name not in TOP_LEVEL:
            problems.append(f"{name}: does not belong to the top level")
    for path in paths:
        file = pathlib.Path(path)
        if file.is_symlink() or not file.is_file():
            continue
        data = file.read_bytes()
        if len(data) > MAX_BYTES:
            problems.append(f"{path}: {len(data)} bytes; nothing over {MAX_BYTES} is tracked")
        elif b"\0" not in data[:8192]:
            problems += check_text(path, data.decode("utf-8", errors="replace"))
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{len(paths)} tracked files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
