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
    # On two hosts: one program counts what its GPU has free.
    for args in (("h0", f"{program('gpu_write')}", "h1", f"{program('gpu_write')} h0"),
                 ("h0", f"{program('gpu_cases')} memory peers", "h1", f"{program('gpu_cases')} ipc")):
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
    done = run("h1", "sh -c 'lspci; lspci -t; lspci -vv -s 03:00.0'", "h0", "lspci -vv -s 03:00.0", text=TWO_SOCKETS)
    told = done.stdout + done.stderr
    expect(done.returncode == 0, told)
    for line in ("02:01.0 PCI bridge: simverbs PCIe switch plx0, downstream port",
                 "03:00.0 Infiniband controller: simverbs adapter mlx5_0",
                 "04:00.0 3D controller: NVIDIA Corporation A100-PCIE-40GB",
                 " \\-[0000:00]---01.0-[01-04]----00.0-[02-04]--+-00.0-[03]----00.0",
                 "\\-01.0-[04]----00.0",
                 "[h1] \t\tLnkCap:\tSpeed 16GT/s, Width x16",
                 "[h1] \t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x8 (downgraded)",
                 "[h0] \t\tLnkSta:\tSpeed 16GT/s, Width x16\n"):
        expect(line in told, f"no '{line}':\n{told}")
    refused = run("h1", "lspci -x", text=TWO_SOCKETS)
    expect(refused.returncode != 0 and "simulated hosts know" in refused.stderr + refused.stdout, refused.stderr)


def gpudirect_rate(before):
    """GB/s from the GPU of a host to that of another like it, below one switch each; `before`: what both do first."""
    send = f"{program('gpu_send')} --direct -n 8388608"
    told = run("h0", f"sh -c '{before} {send}'", "h1", f"sh -c '{before} sleep 1; {send} h0'",
               text=TWO_SOCKETS.replace("gen: 3, width: 8", ""))
    found = re.search(r"GPU -> GPU .* ([0-9.]+) GB/s", told.stdout)
    expect(told.returncode == 0 and found, told.stdout + told.stderr)
    return float(found[1]), told.stdout


def setpci_on_the_switch_s_ports_turns_acs_off_and_gpudirect_fast():
    ports = "for port in 02:00.0 02:01.0; do setpci -s $port ECAP_ACS+0x6.w{}; done;"
    with_acs, told = gpudirect_rate(ports.format("") + "lspci -vv | grep ACSCtl;")
    expect(told.count("001d") == 4 and told.count("ReqRedir+") == 4, told)
    of_one_port, _ = gpudirect_rate("setpci -s 02:00.0 ECAP_ACS+6.w=0;")
    without, told = gpudirect_rate(ports.format("=0") + "lspci -vv | grep ACSCtl;")
    expect("ReqRedir+" not in told and told.count("ReqRedir-") == 4, told)
    expect(with_acs < 12 and of_one_port == with_acs and without > 23, f"{with_acs}, {of_one_port}, {without} GB/s")
    again, _ = gpudirect_rate(ports.format("=0") + ports.format("=4:4"))
    expect(again == with_acs, f"{again}, {with_acs} GB/s")
    for refused in ("-s 00:01.0 ECAP_ACS+6.w", "-s 02:00.0 COMMAND", "-s 7f:00.0 ECAP_ACS+6.w", "ECAP_ACS+6.w"):
        expect(run("h0", f"setpci {refused}", text=TWO_SOCKETS).returncode != 0, refused)


def numbers_of(told, first, column):
    """The column of the line that begins with `first`."""
    found = re.search(rf"^\[h0\] +{first} +([0-9. ]+)", told, re.M)
    expect(found, told)
    return float(found[1].split()[column])


def numactl_places_a_program_s_cpu_and_its_memory():
    text = TWO_SOCKETS.replace("gen: 3, width: 8", "")
    done = run("h0", "sh -c 'numactl --hardware; numactl -N 1 -m 0 numactl --show'", text=text)
    for line in ("available: 2 nodes (0-1)", "node 1 size: 262144 MB", "nodebind: 1", "membind: 0"):
        expect(done.returncode == 0 and line in done.stdout, done.stdout + done.stderr)
    refused = run("h0", "numactl -N 2 true", text=text)
    expect(refused.returncode != 0 and "-N 2" in refused.stdout + refused.stderr, refused.stderr)
    near, far, far_cpu = (run("h0", f"numactl {where} {program('gdr_latency')}", text=text).stdout
                          for where in ("-N 0", "-N 1", "-N 1 -m 0"))
    # Columns: GDRCopy and cudaMemcpy into the GPU, and out of it.
    expect(numbers_of(far, 64, 2) > numbers_of(near, 64, 2) + 0.1, f"loads of a CPU:\n{near}{far}")
    expect(numbers_of(far_cpu, 64, 2) == numbers_of(far, 64, 2), f"loads of a CPU:\n{far}{far_cpu}")
    expect(numbers_of(far, 64, 1) > numbers_of(near, 64, 1) + 0.1, f"copies from memory:\n{near}{far}")
    expect(numbers_of(far_cpu, 64, 1) == numbers_of(near, 64, 1), f"copies from memory:\n{near}{far_cpu}")
    # Small messages of nccl_like arrive in registered host memory.
    near, far = (numbers_of(run("h0", f"numactl -m {node} {program('nccl_like')}",
                                "h1", f"sh -c 'sleep 1; numactl -m {node} {program('nccl_like')} h0'", text=text).stdout,
                            8, 0) for node in (0, 1))
    expect(0.1 < far - near < 0.5, f"half a round: {near} us, in the far node {far} us")


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
