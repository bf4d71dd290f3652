#!/usr/bin/env python3
"""Checks of programs that use GPUs: each scenario of scenarios/library/scenarios/gpu meets its expectations, and what their
programs print fits together. One function a check."""

import pathlib
import re
import subprocess
import sys
import tempfile

import named_checks
import run_program_case
from named_checks import OPTIONS

LIBRARY = pathlib.Path(__file__).resolve().parent.parent.parent / "scenarios" / "library" / "scenarios" / "gpu"
# What is enough for a test, where the library's own sizes take longer to simulate.
SHORT = {"all_reduce_a100": ("gpus=2", "bytes=4194304", "says=bus [0-9]"),
         "all_reduce_h100": ("gpus=2", "bytes=4194304", "says=bus [0-9]"),
         "all_reduce_without_nvlink": ("gpus=4", "bytes=4194304")}


BYTES = 32 << 20
GB_S = 1e6 / BYTES  # times this: GB/s -> 1/ms, of the message


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def run(name, *settings):
    """What the programs of scenario `name` print; it must meet its expectations. gpu_send sends BYTES."""
    if "include: base_all_reduce" not in (text := (LIBRARY / f"{name}.yaml").read_text()) and "include:" in text:
        settings = (f"bytes={BYTES}", *settings)
    server, environment = run_program_case.server_and_environment(OPTIONS.simverbs)
    environment["PATH"] = f"{OPTIONS.programs}:{environment['PATH']}"
    sets = [word for setting in settings for word in ("--set", setting)]
    with tempfile.TemporaryDirectory(prefix="svt-") as folder:
        done = subprocess.run([server, "run", str(LIBRARY / f"{name}.yaml"), "--out", folder, *sets],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, env=environment)
        said = "".join(file.read_text() for file in sorted(pathlib.Path(folder).rglob("programs/*.txt")))
    expect(done.returncode == 0, f"{name} {settings} ended with {done.returncode}:\n{done.stdout}{done.stderr}{said}")
    return said


def ms(said, leg):
    """How long a leg of gpu_send took."""
    found = re.search(rf"^{leg} +([0-9.]+) ms", said, re.M)
    expect(found, f"no line of the leg '{leg}':\n{said}")
    return float(found[1])


def near(value, expected, tolerance, what):
    expect(abs(value - expected) <= tolerance * expected, f"{what}: {value}, expected {expected} within {tolerance:.0%}")


def a_staged_message_takes_as_long_as_its_three_legs():
    """What links carry: PCIe 3.0 x16 13.0 GB/s out of a GPU and 13.2 into it; 100 Gb/s with RoCEv2's headers, 4096 of 4178 bytes."""
    said = run("staged")
    out, network, into = (ms(said, leg) for leg in ("GPU -> host", "host -> host", "host -> GPU"))
    near(out, 1 / (13.0 * GB_S), 0.02, "GPU to host")
    near(into, 1 / (13.2 * GB_S), 0.02, "host to GPU")
    near(network, 1 / (12.5 * 4096 / 4178 * GB_S), 0.03, "host to host")
    near(ms(said, "the whole way"), out + network + into, 0.02, "the whole way")


def gpudirect_takes_the_network_s_time_alone():
    near(ms(run("direct"), "the whole way"), 1 / (12.5 * 4096 / 4178 * GB_S), 0.03, "direct")


def a_pipeline_takes_as_long_as_its_slowest_leg_and_two_chunks_where_legs_share_no_link():
    """Through two root ports: the first chunk comes out of the GPU, and the last goes into it, while the network is idle."""
    said = run("root_complex", "way=--pipelined", "says=the whole way")
    near(ms(said, "the whole way"), 1 / (25 * 4096 / 4178 * GB_S) + 2 * (4 << 20) / BYTES / (26.2 * GB_S), 0.03, "pipelined")


def below_one_switch_a_pipeline_s_legs_hold_each_other_up():
    """The GPU's copies fill the link up to the root, where the adapter's read requests want to pass."""
    pipelined, direct, staged = (ms(run(name), "the whole way") for name in ("pipelined", "direct", "staged"))
    expect(1.3 * direct < pipelined < 0.6 * staged, f"direct {direct}, pipelined {pipelined}, staged {staged}")


def a_dma_buf_is_as_fast_as_nvidia_peermem():
    near(ms(run("direct", "way=--dmabuf"), "the whole way"), ms(run("direct"), "the whole way"), 0.01, "by dma-buf")


def newer_generations_shorten_every_leg_alike():
    old, new = run("staged"), run("staged", "gen=5", "nic=cx7-400g")
    for leg in ("GPU -> host", "host -> host", "host -> GPU", "the whole way"):
        near(ms(new, leg), ms(old, leg) / 4, 0.05, leg)


def scenario_check(name):
    def check():
        run(name, *SHORT.get(name, ()))
    check.__name__ = f"the_scenario_gpu_{name}_meets_its_expectations"
    return check


CHECKS = [a_staged_message_takes_as_long_as_its_three_legs, gpudirect_takes_the_network_s_time_alone,
          a_pipeline_takes_as_long_as_its_slowest_leg_and_two_chunks_where_legs_share_no_link,
          below_one_switch_a_pipeline_s_legs_hold_each_other_up,
          a_dma_buf_is_as_fast_as_nvidia_peermem, newer_generations_shorten_every_leg_alike,
          *[scenario_check(file.stem) for file in sorted(LIBRARY.glob("*.yaml")) if not file.stem.startswith("base_")]]


if __name__ == "__main__":
    sys.exit(named_checks.main(CHECKS, []))
