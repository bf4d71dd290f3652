#!/usr/bin/env python3
"""Programs that use CUDA, GPUDirect RDMA and GDRCopy between simulated hosts with GPUs. One function a check."""

import os
import pathlib
import re
import subprocess
import sys

import named_checks
from named_checks import OPTIONS


def run(gpus, *args, lab="two_hosts_roce_10g", explain=False):
    env = dict(os.environ, SIMVERBS_TEST_GPUS=gpus)
    options = ["--explain"] if explain else []
    return subprocess.run([OPTIONS.simverbs, "exec", "--lab", lab, *options, *args], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120, env=env)


def program(name):
    return str(pathlib.Path(OPTIONS.programs) / name)


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def cases(*names, gpus="h0=2", **kwargs):
    """The cases pass, twice with the same words."""
    outputs = []
    for _ in range(2):
        done = run(gpus, "h0", f"{program('gpu_cases')} {' '.join(names)}", **kwargs)
        told = done.stdout + done.stderr
        expect(done.returncode == 0, f"{done.returncode}: {told}")
        for name in names:
            expect(f"ok {name}" in told, told)
        expect("not deterministic" not in told, told)
        outputs.append(told)
    expect(outputs[0] == outputs[1], f"two runs differ:\n{outputs[0]}\n{outputs[1]}")
    return outputs[0]


def devices_memory_and_peers_are_as_cuda_says():
    cases("devices", "memory", "peers")


def streams_keep_their_order_and_take_time():
    cases("streams", "kernels")


def two_processes_of_a_host_share_memory_and_events():
    cases("ipc", "forked")


def gdrcopy_maps_gpu_memory_and_is_faster_than_a_copy_for_few_bytes():
    cases("gdrcopy")


def functions_are_found_by_name_and_version():
    told = cases("entry_points")
    expect("-cudart shared" in told, told)


def a_write_goes_from_gpu_to_gpu():
    for api in ("runtime", "driver", "dmabuf"):
        done = run("h0=1 h1=1", "h0", f"{program('gpu_write')} -a {api}", "h1", f"{program('gpu_write')} -a {api} h0")
        told = done.stdout + done.stderr
        expect(done.returncode == 0, f"{api}: {done.returncode}: {told}")
        expect("[h1] RDMA WRITE of 1048576 bytes from GPU to GPU: success" in told, told)
        expect("[h0] GPU memory after the WRITE: right" in told, told)


def the_wall_clock_works_as_well():
    env = dict(os.environ, SIMVERBS_TEST_GPUS="h0=2 h1=1")
    for args in (("h0", f"{program('gpu_write')}", "h1", f"{program('gpu_write')} h0"),
                 ("h0", f"{program('gpu_cases')} memory peers ipc")):
        done = subprocess.run([OPTIONS.simverbs, "exec", "--clock", "wall", *args], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, env=env)
        expect(done.returncode == 0, done.stdout + done.stderr)


def without_nvidia_peermem_registration_is_refused_and_explained():
    done = run("h0=1 no-peermem", "h0", f"{program('gpu_cases')} regions", explain=True)
    told = done.stdout + done.stderr
    expect("ibv_reg_mr: Bad address" in told and "nvidia_peermem is not loaded" in told, told)
    expect("dma-buf: supported 1, export 0" in told and "ibv_reg_dmabuf_mr: success" in told, told)


def without_dma_bufs_only_nvidia_peermem_is_left():
    done = run("h0=1 no-dma-buf", "h0", f"{program('gpu_cases')} regions", explain=True)
    told = done.stdout + done.stderr
    expect("ibv_reg_mr: success" in told and "dma-buf: supported 0, export 801" in told, told)
    expect("ibv_reg_dmabuf_mr: Operation not supported" in told and "dma-buf support" in told, told)


def a_gpu_address_used_by_the_cpu_is_a_fault_with_an_explanation():
    done = run("h0=1", "h0", f"{program('gpu_cases')} access", explain=True)
    told = done.stdout + done.stderr
    expect("killed by signal 11" in told and "an address of GPU memory, on the CPU" in told, told)
    cases("handled_access", gpus="h0=1")


def a_killed_program_leaves_no_gpu_memory_behind():
    done = run("h0=1", "h0", f"sh -c '{program('gpu_cases')} dies; {program('gpu_cases')} all_free'")
    told = done.stdout + done.stderr
    expect("ok dies" in told and "ok all_free" in told, told)


def hosts_without_gpus_do_not_see_the_libraries():
    done = run("h0=1", "h1", f"{program('gpu_cases')} devices")
    told = done.stdout + done.stderr
    expect(re.search(r"libcuda\w*\.so\S*: cannot open shared object file", told), told)
    # A child that gets a new environment is still on the host.
    done = run("h0=1", "h0", f"env -i {program('gpu_cases')} memory")
    expect("ok memory" in done.stdout, done.stdout + done.stderr)


CHECKS = [devices_memory_and_peers_are_as_cuda_says, streams_keep_their_order_and_take_time,
          two_processes_of_a_host_share_memory_and_events, gdrcopy_maps_gpu_memory_and_is_faster_than_a_copy_for_few_bytes,
          functions_are_found_by_name_and_version, a_write_goes_from_gpu_to_gpu, the_wall_clock_works_as_well,
          without_nvidia_peermem_registration_is_refused_and_explained, without_dma_bufs_only_nvidia_peermem_is_left,
          a_gpu_address_used_by_the_cpu_is_a_fault_with_an_explanation, a_killed_program_leaves_no_gpu_memory_behind,
          hosts_without_gpus_do_not_see_the_libraries]


if __name__ == "__main__":
    sys.exit(named_checks.main(CHECKS, []))
