#!/usr/bin/env python3
"""The behaviour cases of tests/conformance/verbs, each run by the program verbs_cases between two adapters of one host.

rxe_cases.csv is what Linux 6.1 did with Soft-RoCE. hca_differences.csv says where an HCA, and so the model, does something else,
cell by cell, with the reason; rxe_differences.csv the little that the profile `rxe` does not imitate. One function a check."""

import csv
import pathlib
import re
import subprocess
import sys

import named_checks
from named_checks import OPTIONS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TABLES = ROOT / "tests" / "conformance" / "verbs"
FIDELITY = ROOT / "docs" / "fidelity.md"
COLUMNS = ("posts_failed", "completions_A", "completions_B", "async", "A_final", "B_final")
# Notes that are compared as well: the others tell of the measuring program itself.
NOTES = re.compile(r"create what=|resize_cq|cq_events|modify side|post_send_list|post_recv on a qp with srq|recv buffer bytes|"
                   r"dereg_mr|post_bind_mw|A after|A before|destroy what|remote=")


def table(name):
    with open(TABLES / name, newline="") as file:
        return list(csv.DictReader(file))


def run(lab):
    """The rows of all cases, by case."""
    command = [OPTIONS.simverbs, "exec", "--lab", str(TABLES / lab), "h0", str(pathlib.Path(OPTIONS.programs) / "verbs_cases")]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    lines = [line.removeprefix("[h0] ") for line in done.stdout.splitlines()]
    return {row["case"]: row for row in csv.DictReader(lines)}


def notes_of(text):
    """Their essence: the measuring program's numbers of lines and the like differ."""
    found = [re.sub(r" \(not tried on siw\) rc=\d+,", " ", note.strip()) for note in text.split(";")]
    found = [note.replace("good fetch_add: remote 5 + 1 ", "") for note in found]
    return "; ".join(note for note in found if NOTES.search(note) and "before poll" not in note)


def may_use_raw_packets():
    return bool(int(re.search(r"^CapEff:\s*(\w+)", pathlib.Path("/proc/self/status").read_text(), re.M)[1], 16) & 1 << 13)


def cells(row):
    return {**{c: row[c] for c in COLUMNS}, "notes": notes_of(row["notes"])}


def check_cells(lab, differences):
    here, problems, used = run(lab), [], set()
    told = {(d["case"], d["column"]): d["here"] for d in table(differences)}
    if not may_use_raw_packets():
        told = {cell: text.replace("raw packet,ok=1,errno=0", "raw packet,ok=0,errno=EPERM") for cell, text in told.items()}
    for expected in table("rxe_cases.csv"):
        case = expected["case"]
        if case not in here:
            problems.append(f"{case} ({expected['title']}): was not run")
            continue
        want, got = cells(expected), cells(here[case])
        for column, value in got.items():
            if (case, column) in told:
                used.add((case, column))
                if told[case, column] == want[column]:
                    problems.append(f"{case} {column}: {differences} lists what is no difference")
            if value != told.get((case, column), want[column]):
                problems.append(f"{case} ({expected['title']}) {column}:\n    {value}\n  expected\n    "
                                f"{told.get((case, column), want[column])}")
    problems += [f"{differences} has a row of a case that does not exist: {key}" for key in told.keys() - used]
    if problems:
        raise AssertionError("\n".join(problems))


def an_adapter_does_what_soft_roce_did_but_for_the_listed_cases():
    check_cells("two_adapters.yaml", "hca_differences.csv")


def the_profile_rxe_does_what_soft_roce_did():
    check_cells("two_adapters_rxe.yaml", "rxe_differences.csv")


def each_difference_from_soft_roce_is_in_the_documentation():
    text = FIDELITY.read_text()
    for name in ("hca_differences.csv", "rxe_differences.csv"):
        for difference in table(name):
            rows = [line for line in text.splitlines() if line.startswith("|") and re.search(rf"\b{difference['case']}\b", line)]
            if not any(difference["reason"] in row for row in rows):
                raise AssertionError(f"docs/fidelity.md has no row of a table with '{difference['reason']}' that names case "
                                     f"{difference['case']}")


def every_completion_status_is_reached_or_cannot_occur():
    here = run("two_adapters.yaml")
    for row in table("wc_statuses.csv"):
        seen = [case for case in here.values() for side in ("completions_A", "completions_B")
                if re.search(rf":{row['status']}[(/]", case[side])]
        if not row["case"]:
            assert row["why"] and not seen, f"{row['status']} is said not to occur"
        else:
            found = here[row["case"]][f"completions_{row['side']}"]
            assert re.search(rf":{row['status']}[(/]", found), f"{row['status']}: case {row['case']} shows {found}"


def calls_and_events_are_as_the_table_says():
    here, problems = run("two_adapters.yaml"), []
    for expected in table("own_cases.csv"):
        got = here.get(expected["case"])
        for column in (*COLUMNS, "notes"):
            if got is None or got[column] != expected[column]:
                problems.append(f"{expected['case']} {column}:\n    {got and got[column]}\n  expected\n    {expected[column]}")
    if problems:
        raise AssertionError("\n".join(problems))


CHECKS = (an_adapter_does_what_soft_roce_did_but_for_the_listed_cases, the_profile_rxe_does_what_soft_roce_did,
          each_difference_from_soft_roce_is_in_the_documentation, every_completion_status_is_reached_or_cannot_occur,
          calls_and_events_are_as_the_table_says)

if __name__ == "__main__":
    sys.exit(named_checks.main(CHECKS, ()))
