#!/usr/bin/env python3
"""Programs that use CUDA, GPUDirect RDMA and GDRCopy between simulated hosts with GPUs. One function a check."""

import pathlib
import re
import subprocess
import sys
import tempfile

import named_checks
from named_checks import OPTIONS


# Hosts with the eight GPUs of an HGX board and one adapter; the last one has no GPU. `driver`: the modules of h0.
LAB = """
name: gpus
hosts:
  h0: {{platform: {{like: hgx_h100, gpu_driver: {{{driver}}}}}}}
  h1: {{platform: hgx_h100}}
  h2: {{}}
nic: cx6-200g
"""


# ACS is on in both; the slot of h1's first adapter is an old one.
TWO_SOCKETS = """
name: two_sockets
hosts:
  h0: {platform: {like: two_socket, acs: true}}
  h1: {platform: {like: two_socket, acs: true, slots: {nic0: {gen: 3, width: 8}}}}
nic: cx6-200g
"""


def run(*args, driver="", options=(), text=None):
    with tempfile.TemporaryDirectory() as folder:
        lab = pathlib.Path(folder) / "gpus.yaml"
        lab.write_text(text or LAB.format(driver=driver))
        return subprocess.run([OPTIONS.simverbs, "exec", "--lab", str(lab), *options, *args], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)


def program(name):
    return str(pathlib.Path(OPTIONS.programs) / name)


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def cases(*names):
    """The cases pass, twice with the same words."""
    outputs = []
    for _ in range(2):
        done = run("h0", f"{program('gpu_cases')} {' '.join(names)}")
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
        done = run("h0", f"{program('gpu_write')} -a {api}", "h1", f"{program('gpu_write')} -a {api} h0")
        told = done.stdout + done.stderr
        expect(done.returncode == 0, f"{api}: {done.returncode}: {told}")
        expect("[h1] RDMA WRITE of 1048576 bytes from GPU to GPU: success" in told, told)
        expect("[h0] GPU memory after the WRITE: right" in told, told)


def the_wall_clock_works_as_well():
    for args in (("h0", f"{program('gpu_write')}", "h1", f"{program('gpu_write')} h0"),
                 ("h0", f"{program('gpu_cases')} memory peers", "h0", f"{program('gpu_cases')} ipc")):
        done = run(*args, options=("--clock", "wall"))
        expect(done.returncode == 0, done.stdout + done.stderr)


def without_nvidia_peermem_registration_is_refused_and_explained():
    done = run("h0", f"{program('gpu_cases')} regions", driver="peermem: false", options=("--explain",))
    told = done.stdout + done.stderr
    expect("ibv_reg_mr: Bad address" in told and "nvidia_peermem is not loaded" in told, told)
    expect("dma-buf: supported 1, export 0" in told and "ibv_reg_dmabuf_mr: success" in told, told)


def without_dma_bufs_only_nvidia_peermem_is_left():
    done = run("h0", f"{program('gpu_cases')} regions", driver="dma_buf: false", options=("--explain",))
    told = done.stdout + done.stderr
    expect("ibv_reg_mr: success" in told and "dma-buf: supported 0, export 801" in told, told)
    expect("ibv_reg_dmabuf_mr: Operation not supported" in told and "dma-buf support" in told, told)


def a_gpu_address_used_by_the_cpu_is_a_fault_with_an_explanation():
    done = run("h0", f"{program('gpu_cases')} access", options=("--explain",))
    told = done.stdout + done.stderr
    expect("killed by signal 11" in told and "an address of GPU memory, on the CPU" in told, told)
    cases("handled_access")


def a_killed_program_leaves_no_gpu_memory_behind():
    done = run("h0", f"sh -c '{program('gpu_cases')} dies; {program('gpu_cases')} all_free'")
    told = done.stdout + done.stderr
    expect("ok dies" in told and "ok all_free" in told, told)


def hosts_without_gpus_do_not_see_the_libraries():
    done = run("h2", f"{program('gpu_cases')} devices")
    told = done.stdout + done.stderr
    expect(re.search(r"libcuda\w*\.so\S*: cannot open shared object file", told), told)
    # A child that gets a new environment is still on the host.
    done = run("h0", f"env -i {program('gpu_cases')} memory")
    expect("ok memory" in done.stdout, done.stdout + done.stderr)


def the_host_s_commands_tell_of_gpus_and_change_modules():
    cases_program = program("gpu_cases")
    done = run("h0", f"sh -c 'nvidia-smi -L; nvidia-smi topo -m; lsmod; modprobe nvidia-peermem; lsmod; {cases_program} regions'",
               "h0", "nvidia-smi -q", driver="peermem: false")
    told = done.stdout + done.stderr
    expect(done.returncode == 0, told)
    expect("GPU 7: NVIDIA H100 80GB HBM3 (UUID: GPU-" in told, told)
    expect(re.search(r"gpu0.*NV18", told) and "PIX" in told, told)
    expect(told.count("nvidia_peermem") == 1 and "gdrdrv" in told, told)
    expect("ibv_reg_mr: success" in told, told)
    expect("Attached GPUs                             : 8" in told, told)


def lspci_shows_the_tree_and_that_a_slot_is_degraded():
    done = run("h1", "sh -c 'lspci; lspci -t; lspci -vv -s 00:01.0; lspci -s 02:00.0'", text=TWO_SOCKETS)
    told = done.stdout + done.stderr
    expect(done.returncode == 0, told)
    print(told)


def setpci_on_the_switch_s_ports_turns_acs_off_and_gpudirect_fast():
    done = run("h0", "sh -c 'lspci'", text=TWO_SOCKETS)
    told = done.stdout + done.stderr
    expect(done.returncode == 0, told)
    print(told)


def numactl_places_a_program_s_cpu_and_its_memory():
    done = run("h0", "numactl --hardware", text=TWO_SOCKETS)
    told = done.stdout + done.stderr
    expect(done.returncode == 0, told)
    print(told)


CHECKS = [devices_memory_and_peers_are_as_cuda_says, streams_keep_their_order_and_take_time,
          two_processes_of_a_host_share_memory_and_events, gdrcopy_maps_gpu_memory_and_is_faster_than_a_copy_for_few_bytes,
          functions_are_found_by_name_and_version, a_write_goes_from_gpu_to_gpu, the_wall_clock_works_as_well,
          without_nvidia_peermem_registration_is_refused_and_explained, without_dma_bufs_only_nvidia_peermem_is_left,
          a_gpu_address_used_by_the_cpu_is_a_fault_with_an_explanation, a_killed_program_leaves_no_gpu_memory_behind,
          hosts_without_gpus_do_not_see_the_libraries, the_host_s_commands_tell_of_gpus_and_change_modules,
          lspci_shows_the_tree_and_that_a_slot_is_degraded, setpci_on_the_switch_s_ports_turns_acs_off_and_gpudirect_fast,
          numactl_places_a_program_s_cpu_and_its_memory]


if __name__ == "__main__":
    sys.exit(named_checks.main(CHECKS, []))
