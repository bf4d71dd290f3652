"""The table of program runs: unmodified binaries between simulated hosts.

SHORT is what tools/check runs; full() generates the whole matrices for tools/check --full.
"""

from dataclasses import dataclass, replace
import itertools
import pathlib


@dataclass(frozen=True)
class Number:
    """A figure that a program prints: perftest's table row for `size` bytes, column `column` (0 is the size)."""
    size: int
    column: int
    expected: float
    tolerance: float  # relative
    line: str = "h1"  # whose output


NEVER = (r"conflicting CPU frequency", r"not deterministic from here")


@dataclass(frozen=True)
class Case:
    name: str
    commands: tuple  # ((host, command), ...)
    lab: str = ""
    options: tuple = ()
    exit: int = 0
    stdout: tuple = ()      # regular expressions that some line must match
    stderr: tuple = ()
    never: tuple = NEVER
    numbers: tuple = ()
    pcap: str = ""          # "": no capture; "strict": every request answered; "unacked": a peer may be missing
    runs: int = 1           # more than one: stdout (and captures) must be the same bytes each time
    # What it needs on two quiet cores, at most (0: 6 with a capture to check, else 3); the time limit is six times that.
    seconds: int = 0
    sanitized: bool = False  # runs against the sanitized server as well
    needs: tuple = ()       # programs beyond ibverbs-utils and perftest


LAT_TYPICAL = 4
BW_AVERAGE = 3


def pair(tool, options="", server_extra="", client_extra="", target="h0"):
    return (("h0", f"{tool} {options} {server_extra}".strip()),
            ("h1", f"{tool} {options} {client_extra} {target}".replace("  ", " ").strip()))


IB = "two_hosts_ib"
TWO_ADAPTERS = str(pathlib.Path(__file__).resolve().parent.parent / "conformance" / "verbs" / "two_adapters.yaml")
RUNS = 3
# docs/tutorials/qp_state_machine.md: number, name, what the programs print, what --explain says.
TUTORIAL_MISTAKES = (
    (0, "none_at_all", (r"SEND: success", r"WRITE: success", r"QP: RTS", r"receive: success"), r"from RTR to RTS, as the program asked"),
    (1, "min_rnr_timer_left_out", (r"INIT -> RTR: Invalid argument",), r"a required attribute is missing \(IBV_QP_MIN_RNR_TIMER\)"),
    (2, "no_grh_on_roce", (r"INIT -> RTR: Invalid argument",), r"RoCE needs a GRH in every address vector"),
    (3, "peer_not_in_rtr", (r"SEND: transport retry counter exceeded", r"WRITE: Work Request Flushed Error", r"QP: ERR"),
     r"the peer did not answer: all retries timed out \(2 retries\)"),
    (4, "no_receive_posted", (r"SEND: RNR retry counter exceeded", r"WRITE: Work Request Flushed Error", r"QP: ERR"),
     r"the peer had no receive request posted"),
    (5, "receive_too_small", (r"SEND: remote invalid request error", r"receive: local length error"),
     r"the posted receive buffer is smaller than the message, a message of 64 bytes\."),
    (6, "wrong_rkey", (r"SEND: success", r"WRITE: remote access error", r"QP: ERR"), r"the rkey names no memory region"),
    (7, "right_missing_on_the_qp", (r"SEND: success", r"WRITE: remote invalid request error", r"QP: ERR"),
     r"the responder QP's qp_access_flags do not allow the operation"),
    (8, "completions_never_polled", (r"ibv_post_send: Cannot allocate memory after 16 requests",), r"the send queue is full"),
)


def qperf(tests, lab, options):
    """Both sides of some of qperf's tests; each lasts one simulated second."""
    return dict(lab=lab, needs=("qperf",), commands=(
        ("h0", "qperf"), ("h1", f"sh -c 'sleep 0.01; qperf -t 1 {options} h0 {tests}; r=$?; qperf h0 quit; exit $r'")),
        stdout=tuple(rf"^\[h1\] {test}:" for test in tests.split()) + (r"^\[h1\] +(bw|send_bw|latency|msg_rate) +=",),
        never=NEVER + (r" = +0 ",))


def ucx(transports, test):
    return dict(needs=("ucx_perftest",), seconds=3, stdout=(r"^\[h1\] Final: +100 ",), commands=(
        ("h0", f"env UCX_TLS={transports} ucx_perftest"),
        ("h1", f"env UCX_TLS={transports} ucx_perftest h0 -t {test} -n 100 -w 10")))


UCX_TESTS = ("tag_lat", "tag_bw -s 65536", "tag_sync_lat", "ucp_put_lat", "ucp_put_bw", "ucp_get", "ucp_add", "ucp_fadd", "ucp_swap",
             "ucp_cswap", "stream_lat", "stream_bw", "ucp_am_lat", "ucp_am_bw")
FI_PINGPONG = {"msg": "-p verbs -e msg", "rdm": "-p \"verbs;ofi_rxm\" -e rdm", "dgram": "-p verbs -e dgram",
               "rdm_over_dgram": "-p \"verbs;ofi_rxd\" -e rdm"}
# Of UCX's transport level: what its IB verbs transport has.
UCT_TESTS = ("add_mr", "add_lat", "fadd", "cswap", "am_lat", "am_bw", "put_lat", "put_bw", "get -D bcopy")
QPERF_SLOW = ("ud_lat", "ud_bw", "rc_fetch_add_mr", "rc_compare_swap_mr", "ver_rc_fetch_add", "ver_rc_compare_swap", "tcp_lat", "udp_lat", "udp_bw",
              "uc_bi_bw", "rc_rdma_read_lat", "rc_rdma_write_bw", "uc_rdma_write_bw", "uc_rdma_write_lat", "uc_rdma_write_poll_lat")


def uct(test):
    return dict(needs=("ucx_perftest",), seconds=3, stdout=(r"^\[h1\] Final: +100 ",), commands=(
        ("h0", "ucx_perftest -d mlx5_0:1 -x rc_verbs"), ("h1", f"ucx_perftest h0 -d mlx5_0:1 -x rc_verbs -t {test} -n 100 -w 10")))


def fio(verb):
    job = "--ioengine=rdma --port=7174 --bs=64k --size=1m --iodepth=16"
    return dict(needs=("fio",), seconds=6, stdout=(r"^\[h1\] .*err= 0:", r"^\[h1\] +WRITE: bw=", r"issued rwts: total=0,16,0,0"),
                commands=(("h0", f"fio --name=server {job} --rw=read"),
                          ("h1", f"sh -c 'sleep 0.1; fio --name=client {job} --hostname=h0 --verb={verb} --rw=write'")))


SHORT = [
    # What tools see of a device.
    Case("ibv_devices_lists_the_roce_nic", (("h0", "ibv_devices"),), stdout=(r"mlx5_0\s+[0-9a-f]{16}",)),
    Case("ibv_devinfo_shows_an_active_roce_port", (("h0", "ibv_devinfo -v"),),
         stdout=(r"hca_id:\s+mlx5_0", r"state:\s+PORT_ACTIVE", r"link_layer:\s+Ethernet",
                 r"GID\[\s*\d+\]:.*RoCE v2", r"vendor_id:\s+0x02c9", r"max_qp:\s+262144",
                 r"device_cap_flags:\s+0x21121c26", r"max_mw:\s+16777216\s")),
    Case("sysfs_has_a_file_for_each_entry_of_the_gid_table",
         (("h0", "cd /sys/class/infiniband/mlx5_0/ports/1; n=$(ls gids | wc -l); "
                 "ibv_devinfo -v | grep -E \"gid_tbl_len:[[:space:]]+$n$\" && echo all $n are there"),),
         stdout=(r"all 255 are there",)),
    Case("ibv_devinfo_shows_an_active_infiniband_port", (("h0", "ibv_devinfo -v"),), lab=IB,
         stdout=(r"link_layer:\s+InfiniBand", r"port_lid:\s+[1-9]", r"sm_lid:\s+[1-9]", r"state:\s+PORT_ACTIVE")),
    Case("sysfs_has_gid_types_and_counters",
         (("h0", "cat /sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0"
                 " /sys/class/infiniband/mlx5_0/ports/1/state /sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data"),),
         stdout=(r"RoCE v[12]", r"4: ACTIVE", r"^\[h0\] 0$")),
    # Pingpongs.
    *[Case(f"ibv_{t}_pingpong_roce{label}", pair(f"ibv_{t}_pingpong", f"-g 1 {o}".strip()), stdout=(r"bytes in", r"iters in"),
           pcap="" if label else "unacked" if t == "srq" else "strict")  # a side of srq_pingpong may end with the other's send under way
      for t, o, label in [("rc", "", ""), ("rc", "-e", "_events"), ("rc", "-c", "_check"), ("rc", "-N", "_new_post"),
                          ("rc", "-t", "_timestamps"), ("rc", "-s 1048576 -n 50 -m 4096", "_1m"), ("rc", "-s 1", "_1b"),
                          ("uc", "", ""), ("uc", "-e", "_events"), ("ud", "-s 1024", ""), ("ud", "-s 1024 -e", "_events"),
                          ("srq", "", ""), ("srq", "-e", "_events")]],
    *[Case(f"ibv_{t}_pingpong_ib", pair(f"ibv_{t}_pingpong", o), lab=IB, stdout=(r"iters in",), pcap="unacked" if t == "srq" else "strict")
      for t, o in [("rc", ""), ("uc", ""), ("ud", "-s 1024"), ("srq", "")]],
    *[Case(f"ibv_rc_pingpong_{name}", pair("ibv_rc_pingpong", f"-g 1 -c {o}"), stdout=(r"iters in",))
      for name, o in [("on_demand", "-o -P"), ("device_memory", "-j")]],
    *[Case(f"ibv_xsrq_pingpong_{name}", (("h0", f"ibv_xsrq_pingpong {o} -c 2"), ("h1", f"ibv_xsrq_pingpong {o} h0"),
                                         ("h1", f"ibv_xsrq_pingpong {o} h0")), lab=lab,
           stdout=(r"^\[h0\] success", r"^\[h1\] success", r"^\[h1#2\] success"), pcap=pcap)
      for name, o, lab, pcap in [("roce", "-g 1", "", "unacked"), ("ib", "-n 100", IB, "")]],
    # perftest.
    *[Case(f"ib_{t}_roce", pair(f"ib_{t}", o), stdout=(r"^\[h1\] \s*\d+\s+\d+\s+\d",), pcap="strict")
      for t, o in [("send_bw", "-n 200"), ("write_bw", "-n 200"), ("read_bw", "-n 200"), ("send_lat", "-n 200"),
                   ("write_lat", "-n 200"), ("read_lat", "-n 200"), ("atomic_bw", "-n 200"), ("atomic_lat", "-n 200")]],
    *[Case(f"ib_{t}_ib", pair(f"ib_{t}", o), lab=IB, stdout=(r"^\[h1\] \s*\d+\s+\d+\s+\d",), pcap="strict")
      for t, o in [("send_bw", "-n 200"), ("write_lat", "-n 200"), ("read_bw", "-n 200"), ("atomic_lat", "-n 200")]],
    Case("ib_write_bw_all_sizes", pair("ib_write_bw", "-a -n 50"), stdout=(r"^\[h1\] \s*8388608\s",), seconds=9),
    Case("ib_send_bw_bidirectional", pair("ib_send_bw", "-b -n 200")),
    Case("ib_write_bw_eight_qps", pair("ib_write_bw", "-q 8 -n 200")),
    Case("ib_send_bw_events", pair("ib_send_bw", "-e -n 200")),
    Case("ib_write_bw_inline", pair("ib_write_bw", "-I 64 -s 64 -n 1000")),
    Case("ib_write_bw_one_second_at_10g", pair("ib_write_bw", "-D 1"), lab="two_hosts_roce_10g", seconds=12),
    Case("ib_write_lat_one_second_at_10g", pair("ib_write_lat", "-D 1 -s 65536"), lab="two_hosts_roce_10g", seconds=12),
    Case("ib_send_bw_uc", pair("ib_send_bw", "-c UC -n 200")),
    Case("ib_send_lat_ud", pair("ib_send_lat", "-c UD -s 1024 -n 200")),
    Case("ib_send_bw_srq", pair("ib_send_bw", "-n 200 --use-srq")),
    Case("ib_write_bw_post_list_gbits", pair("ib_write_bw", "-l 8 -n 400 --report_gbits"), stdout=(r"Gb/sec",)),
    Case("ib_write_bw_old_post_send", pair("ib_write_bw", "-n 200 --use_old_post_send")),
    Case("ib_write_bw_mtu_1024_gid_0", pair("ib_write_bw", "-m 1024 -x 0 -n 200")),
    # Determinism: the same bytes whatever the machine does.
    Case("ib_send_lat_prints_the_same_bytes", pair("ib_send_lat", "-n 300"), pcap="strict", runs=RUNS, seconds=9),
    Case("ib_write_lat_prints_the_same_bytes", pair("ib_write_lat", "-n 300"), pcap="strict", runs=RUNS, seconds=9),
    Case("ib_write_bw_prints_the_same_bytes", pair("ib_write_bw", "-n 300"), pcap="strict", runs=RUNS, seconds=9),
    # Published latencies, 15 %.
    Case("cx5_write_8b_takes_0_99us", pair("ib_write_lat", "-s 8 -n 500"), lab="back_to_back_cx5",
         numbers=(Number(8, LAT_TYPICAL, 0.99, 0.15),)),
    Case("cx5_send_8b_takes_0_92us", pair("ib_send_lat", "-s 8 -n 500"), lab="back_to_back_cx5",
         numbers=(Number(8, LAT_TYPICAL, 0.92, 0.15),)),
    Case("cx6_write_2b_takes_1_26us", pair("ib_write_lat", "-s 2 -n 500"), lab="one_switch_cx6_hdr100",
         numbers=(Number(2, LAT_TYPICAL, 1.26, 0.15),)),
    Case("cx6_send_2b_takes_1_27us", pair("ib_send_lat", "-s 2 -n 500"), lab="one_switch_cx6_hdr100",
         numbers=(Number(2, LAT_TYPICAL, 1.27, 0.15),)),
    Case("cx6_read_2b_takes_2_39us", pair("ib_read_lat", "-s 2 -n 500"), lab="one_switch_cx6_hdr100",
         numbers=(Number(2, LAT_TYPICAL, 2.39, 0.15),)),
    Case("cx7_write_2b_takes_1_47us", pair("ib_write_lat", "-s 2 -n 500"), numbers=(Number(2, LAT_TYPICAL, 1.47, 0.15),)),
    Case("cx6_200g_write_64k_gives_22715_mib", pair("ib_write_bw", "-s 65536 -n 1000"), lab="two_hosts_cx6_200g",
         numbers=(Number(65536, BW_AVERAGE, 22715, 0.03),)),
    Case("cx6_200g_write_1m_gives_23296_mib", pair("ib_write_bw", "-s 1048576 -n 200"), lab="two_hosts_cx6_200g",
         numbers=(Number(1048576, BW_AVERAGE, 23296, 0.03),)),
    # Loss, death, bad input.
    Case("rc_survives_a_link_that_drops_every_1000th_packet", pair("ib_write_bw", "-n 1000 -s 65536"), lab="two_hosts_lossy",
         pcap="unacked", seconds=9),
    Case("rc_pingpong_survives_loss", pair("ibv_rc_pingpong", "-g 1 -n 2000"), lab="two_hosts_lossy", stdout=(r"2000 iters",)),
    Case("uc_pingpong_that_lost_a_message_ends_with_the_stall_report", pair("ibv_uc_pingpong", "-g 1 -n 3000"),
         lab="two_hosts_lossy", exit=3,
         stderr=(r"stall: nothing can happen any more", r"h0: ibv_uc_pingpong .* waits: poll_cq of CQ 1",
                 r"h1/mlx5_0 UC QP \d+ RTS: has sent all of its \d+ messages, \d+ receives wait for messages.*on UC what is lost",
                 r"lost: \d+ packets? on h0.mlx5_0/1 - sw0/1 \(fault 'links\[0\].faults.drop_every'\)\s*$")),
    Case("unknown_host_is_one_clear_error", (("h7", "ibv_devices"),), exit=2, stderr=(r"h7",)),
    Case("missing_program_is_one_clear_error", (("h0", "no_such_program_here"),), exit=2, stderr=(r"no_such_program_here",)),
    Case("missing_lab_is_one_clear_error", (("h0", "ibv_devices"),), lab="two_host_ib", exit=2, stderr=(r"two_hosts_ib",)),
    # Own programs (tests/programs/c, docs/tutorials/programs).
    Case("ten_steps_by_gid_on_roce", (("h0", "{ten_steps}"), ("h1", "{ten_steps} h0")), pcap="strict",
         stdout=(r"path by GID", r"memory now says: written by RDMA", r"10 cleaned up")),
    Case("ten_steps_by_lid_on_infiniband", (("h0", "{ten_steps}"), ("h1", "{ten_steps} h0")), lab=IB, pcap="strict",
         stdout=(r"path by LID", r"memory now says: written by RDMA", r"10 cleaned up")),
    *(Case(f"tutorial_mistake_{n}_{name}", (("h0", f"{{eight_mistakes}} {n}"), ("h1", f"{{eight_mistakes}} {n} h0")),
           options=("--explain",), stdout=stdout, stderr=(stderr,))
      for n, name, stdout, stderr in TUTORIAL_MISTAKES),
    Case("tutorial_without_a_mistake_on_infiniband", (("h0", "{eight_mistakes} 0"), ("h1", "{eight_mistakes} 0 h0")), lab=IB,
         stdout=(r"SEND: success", r"WRITE: success", r"QP: RTS", r"receive: success")),
    Case("wrappers_are_transparent",
         (("h0", "sh -c 'ib_send_lat -n 100; echo status $?'"), ("h1", "timeout 100 ib_send_lat -n 100 h0")),
         stdout=(r"status 0",)),
    Case("two_threads_share_a_context", (("h0", "{two_threads}"),), stdout=(r"two threads: ok",)),
    Case("a_completion_channel_works_in_epoll", (("h0", "{channel_in_epoll}"),), stdout=(r"order cpt",)),
    Case("asynchronous_events_reach_their_context", (("h0", "{async_events}"),), sanitized=True,
         stdout=(r"SRQ limit reached", r"last WQE reached", r"CQ error", r"async events: ok")),
    Case("ibv_asyncwatch_beside_a_lab_program",
         (("h0", "timeout 1 ibv_asyncwatch"), ("h0", "ib_send_bw -n 200"), ("h1", "ib_send_bw -n 200 h0")), exit=1,
         stdout=(r"^\[h0\] mlx5_0: async event FD", r"^\[h1\]\s+65536\s+200\s"), stderr=(r"ibv_asyncwatch: exit code 124",)),
    Case("ibv_asyncwatch_alone_ends_with_the_stall_report", (("h0", "ibv_asyncwatch"),), exit=3,
         stderr=(r"waits: ibv_get_async_event",)),
    Case("udp_and_select_follow_the_simulated_clock", (("h0", "{udp_echo}"), ("h1", "{udp_echo} h0")),
         stdout=(r"server got 5 bytes from 10\.0\.0\.2", r"client got hello after 3 timeouts")),
    Case("large_registered_memory_behaves_as_private_memory", (("h0", "{shared_memory}"),),
         stdout=(r"shared memory: ok",), runs=RUNS, sanitized=True),
    Case("large_registered_memory_behaves_as_private_memory_with_the_wall_clock", (("h0", "{shared_memory}"),),
         options=("--clock", "wall"), stdout=(r"shared memory: ok",)),
    Case("without_shared_memory_registrations_work_the_same", (("h0", "sh -c 'ulimit -f 1000000; {shared_memory} unshared'"),),
         stdout=(r"shared memory: ok",)),
    Case("pthread_cancel_ends_whoever_waits", (("h0", "{cancels_threads}"),), stdout=(r"cancelled threads: ok",)),
    Case("pthread_cancel_ends_whoever_waits_with_the_wall_clock", (("h0", "{cancels_threads}"),), options=("--clock", "wall"),
         stdout=(r"cancelled threads: ok",)),
    Case("a_forked_child_opens_its_own_context", (("h0", "{forks}"),), stdout=(r"child: ok", r"parent: ok")),
    Case("a_program_that_never_cleans_up_ends_well", (("h0", "{never_destroys}"),), stdout=(r"leaving everything behind",)),
    Case("a_peer_that_crashes_mid_transfer_gives_retry_exceeded",
         (("h0", "{crashes} server"), ("h1", "{crashes} client h0")), exit=1, stdout=(r"client: transport retry counter exceeded",)),
    Case("four_hosts_two_pairs",
         (("h0", "ib_send_lat -n 100"), ("h1", "ib_send_lat -n 100 h0"), ("h2", "ib_send_lat -n 100"),
          ("h3", "ib_send_lat -n 100 h2")), lab="four_hosts"),
    Case("ten_programs_on_ten_hosts",
         tuple(itertools.chain.from_iterable(
             ((f"h{2 * i}", "ib_write_bw -n 100"), (f"h{2 * i + 1}", f"ib_write_bw -n 100 h{2 * i}")) for i in range(5))),
         lab="ten_hosts", seconds=9),
    *(Case(f"tutorial_of_rdma_cm_on_{name}", (("h0", "{cm_server}"), ("h1", "{cm_client} h0")), lab=lab, pcap="strict",
           stdout=(r"^\[h0\] a client says: hello", r"^\[h0\] memory now says: written by RDMA over a connection", r"^\[h1\] RDMA_CM_EVENT_DISCONNECTED"))
      for name, lab in (("roce", ""), ("infiniband", IB))),
    *(Case(f"rdma_xclient_and_server_{name}", (("h0", f"rdma_xserver -c {t}"), ("h1", f"rdma_xclient -c {t} -s h0")), needs=("rdma_xserver",),
           stdout=(r"^\[h0\] rdma_xserver: end 0", r"^\[h1\] rdma_xclient: end 0"))
      for name, t in (("rc", "r"), ("xrc", "x"))),
    # rdma_cm: the unmodified librdmacm, its example programs, perftest -R, rsockets.
    *[Case(f"rping_{name}", (("h0", f"rping -s -a {any_address} -C 5 {o}".strip()), ("h1", f"rping -c -a {target} -C 5 -v {o}".strip())),
           lab=lab, pcap=pcap, runs=runs, options=options, needs=("rping",),
           stdout=(r"^\[h1\] ping data: rdma-ping-4",), stderr=(r"^\[h0\] server DISCONNECT EVENT",))
      for name, lab, o, any_address, target, pcap, runs, options in [
          ("roce", "", "", "0.0.0.0", "h0", "strict", 1, ()), ("ib", IB, "", "0.0.0.0", "h0", "strict", 1, ()),
          ("prints_and_captures_the_same_bytes", "", "-V -S 3000", "0.0.0.0", "10.0.0.1", "strict", RUNS, ()),
          ("ipv6", "", "", "::", "fd00::a00:1", "", 1, ()), ("wall_clock", "", "", "0.0.0.0", "h0", "", 1, ("--clock", "wall")),
          ("wall_clock_ib", IB, "", "0.0.0.0", "h0", "", 1, ("--clock", "wall")),
          ("over_a_link_that_loses_packets", "two_hosts_lossy", "", "0.0.0.0", "h0", "", 1, ())]],
    *[Case(f"rdma_cm_case_by_case_{name}", (("h0", "{cm_cases}"),), lab=lab, options=options, stdout=(r"rdma_cm cases: ok",),
           sanitized=not options, seconds=10 if options else 0)
      for name, lab, options in [("roce", "", ()), ("ib", IB, ()), ("wall_clock", "", ("--clock", "wall"))]],
    Case("rping_persistent_serves_two_clients_one_after_the_other",
         (("h0", "timeout 1 rping -s -P -a 0.0.0.0"), ("h1", "sh -c 'rping -c -a h0 -C 2 -v && rping -c -a h0 -C 3 -v'")), exit=1,
         needs=("rping",), stdout=(r"^\[h1\] ping data: rdma-ping-2",), stderr=(r"rping -s -P .*exit code 124",)),
    Case("rping_through_the_loopback_of_a_host",
         (("h0", "sh -c 'rping -s -a 0.0.0.0 -C 2 & sleep 0.01; rping -c -a 127.0.0.1 -C 2 -v; wait'"),), needs=("rping",),
         stdout=(r"ping data: rdma-ping-1",)),
    Case("rping_without_a_server_is_rejected_with_8", (("h0", "ibv_devices"), ("h1", "rping -c -a h0 -C 1")), exit=1,
         options=("--explain",), needs=("rping",), stdout=(), stderr=(r"RDMA_CM_EVENT_REJECTED, error 8", r"nobody listens there")),
    Case("rping_to_nobody_ends_with_an_address_error", (("h1", "rping -c -a 10.0.0.77 -C 1"),), exit=1, options=("--explain",),
         needs=("rping",), stderr=(r"RDMA_CM_EVENT_ADDR_ERROR, error -110", r"belongs to no host")),
    Case("a_killed_rping_client_disconnects_its_server",
         (("h0", "rping -s -a 0.0.0.0 -C 100000"), ("h1", "timeout -s KILL 0.01 rping -c -a h0")), exit=1, needs=("rping",),
         stderr=(r"^\[h0\] server DISCONNECT EVENT",)),
    *[Case(f"{name}_{fabric}", (("h0", server), ("h1", client)), lab=lab, needs=(server.split()[0],), stdout=stdout)
      for fabric, lab in (("roce", ""), ("ib", IB))
      for name, server, client, stdout in [
          ("rdma_client_and_server", "rdma_server", "rdma_client -s h0", (r"rdma_client: end 0", r"rdma_server: end 0")),
          ("ucmatose", "ucmatose -c 3 -C 5", "ucmatose -s h0 -c 3 -C 5", (r"^\[h0\] return status 0", r"^\[h1\] return status 0")),
          ("ucmatose_migrates_its_ids", "ucmatose -m", "ucmatose -s h0 -m", (r"^\[h0\] return status 0", r"^\[h1\] return status 0")),
          ("udaddy", "udaddy -c 2", "udaddy -s h0 -c 2", (r"^\[h0\] return status 0", r"^\[h1\] return status 0")),
          ("mckey", "mckey -m 239.1.1.1", "mckey -m 239.1.1.1 -s", (r"^\[h0\] data transfers complete", r"^\[h1\] return status 0")),
          ("rstream", "rstream -S 65536 -I 20 -C 4", "rstream -s h0 -S 65536 -I 20 -C 4", (r"^\[h1\] custom\s+64k\s+4\s+20",)),
          ("riostream", "riostream -S 65536 -I 20 -C 4", "riostream -s h0 -S 65536 -I 20 -C 4", (r"^\[h1\] custom\s+64k\s+4\s+20",)),
      ]],
    Case("rcopy_copies_a_file",
         (("h0", "sh -c 'timeout 1 rcopy; cmp /tmp/simverbs_rcopy /bin/ls && echo the same; rm -f /tmp/simverbs_rcopy'"),
          ("h1", "rcopy /bin/ls h0:/tmp/simverbs_rcopy")), needs=("rcopy",), stdout=(r"^\[h1\] \d+ bytes in", r"the same$")),
    *[Case(f"udpong_that_asks_without_blocking_{name}", (("h0", f"timeout 1 udpong {server}"), ("h1", f"sh -c 'sleep 0.01; udpong -s {target} -C 10 -S 64'")),
           lab=IB, exit=1, needs=("udpong",), stdout=(r"^\[h1\] custom\s+64\s+10\s+640",), stderr=(r"udpong .*exit code 124",))
      for name, server, target in (("ipv4", "-b 10.0.0.1", "h0"), ("ipv6", "", "fd00::a00:1"))],
    *[Case(f"rstream_with_unequal_buffers_{fabric}", (("h0", "rstream -S 4096 -I 20 -C 4 -T b -B 4096 -i 0"),
                                                      ("h1", "rstream -s h0 -S 4096 -I 20 -C 4 -T a -B 65536 -i 128")), lab=lab, needs=("rstream",),
           stdout=(r"^\[h0\] custom\s+4k\s+4\s+20", r"^\[h1\] custom\s+4k\s+4\s+20")) for fabric, lab in (("roce", ""), ("ib", IB))],
    Case("udpong_over_infiniband",
         (("h0", "timeout 1 udpong -T b -b 10.0.0.1"), ("h1", "sh -c 'sleep 0.01; udpong -T b -s h0 -C 10 -S 64'")), lab=IB, exit=1,
         needs=("udpong",), stdout=(r"^\[h1\] custom\s+64\s+10\s+640",), stderr=(r"udpong .*exit code 124",)),
    Case("cmtime_times_every_step", (("h0", "timeout 1 cmtime"), ("h1", "cmtime -s h0 -c 20")), exit=1, needs=("cmtime",),
         stdout=(r"^\[h1\] connect\s+:\s+\d", r"^\[h1\] disconnect\s+:\s+\d"), stderr=(r"cmtime: exit code 124",)),
    *[Case(f"{tool.replace(' ', '_').replace('-', '')}_by_rdma_cm_{fabric}", pair(tool, "-R -n 200"), lab=lab,
           stdout=(r"^\[h1\] \s*\d+\s+\d+\s+\d", r"Data ex\. method : rdma_cm"))
      for fabric, lab in (("roce", ""), ("ib", IB))
      for tool in ("ib_write_bw", "ib_send_lat", "ib_read_bw", "ib_atomic_lat", "ib_write_bw -q 4", "ib_send_bw -c UD -s 1024")],
    # Libraries above verbs, and benchmarks of others.
    Case("uverbs_nodes_are_character_devices", (("h0", "sh -c 'test -c /dev/infiniband/uverbs0 -a -r /dev/infiniband/uverbs0 && echo it is'"),),
         stdout=(r"it is$",)),
    Case("qperf_rc_by_rdma_cm_on_roce", seconds=9,
         **qperf("rc_bw rc_lat rc_rdma_read_bw rc_rdma_write_lat", "two_hosts_roce_10g", "-cm1 -m 1M")),
    Case("qperf_tcp_of_64k_takes_59_3us_as_published", seconds=4,
         **{**qperf("tcp_lat", "two_hosts_ib_far", "-m 64K"), "stdout": (r"^\[h1\] +latency += +59.3 us",)}),
    Case("qperf_tcp_streams_20_gbits", seconds=3,
         **{**qperf("tcp_bw", "two_hosts_ib_far", "-m 1M"), "stdout": (r"^\[h1\] +bw += +2\.[67]\d? GB/sec",)}),
    Case("qperf_polls_memory_for_latency", seconds=3, **qperf("rc_rdma_write_poll_lat", "two_hosts_ib_far", "")),
    Case("qperf_rc_and_uc_on_infiniband", seconds=9,
         **qperf("rc_bw rc_bi_bw uc_bw rc_lat uc_lat rc_rdma_read_bw rc_rdma_write_lat", "two_hosts_ib_far", "-m 1M")),
    *[Case(f"ucx_info_finds_verbs_transports_and_no_mlx5_ones_{fabric}", (("h0", "ucx_info -d"),), lab=lab, needs=("ucx_info",),
           stdout=(r"Transport: rc_verbs", r"Transport: ud_verbs", r"System device: mlx5_0"), never=NEVER + (r"_mlx5",))
      for fabric, lab in (("roce", ""), ("ib", IB))],
    *[Case(f"ucx_perftest_{transports}_{test.split()[0]}_{fabric}", lab=lab, **ucx(transports, test))
      for fabric, lab in (("roce", ""), ("ib", IB)) for transports in ("rc_v", "ud_verbs") for test in UCX_TESTS[:2]],
    *[Case(f"ucx_perftest_uct_{test}", **uct(test)) for test in UCT_TESTS[:2]],
    *[Case(f"fi_pingpong_{kind}_{fabric}", pair("fi_pingpong", f"{o} -I 100 -S 1024"), lab=lab, needs=("fi_pingpong",), seconds=3,
           stdout=(r"^\[h1\] 1k +100 +=100",))
      for fabric, lab in (("roce", ""), ("ib", IB)) for kind, o in FI_PINGPONG.items()],
    Case("fi_info_finds_the_verbs_provider", (("h0", "fi_info -p verbs"),), needs=("fi_info",),
         stdout=(r"domain: mlx5_0$", r"protocol: FI_PROTO_RDMA_CM_IB_RC")),
    *[Case(f"open_mpi_on_four_hosts_{fabric}", (("h0", "mpirun --allow-run-as-root --mca pml ucx --mca plm_rsh_agent \"{simverbs} on\""
                                                " --host h0,h1,h2,h3 -np 4 {mpi_ring}"),), lab=lab, needs=("mpirun", "mpicc"), seconds=9,
           stdout=tuple(rf"rank {i} of 4 on h{i}: 0 bytes wrong, the sum is 10$" for i in range(4)))
      for fabric, lab in (("roce", "four_hosts"), ("ib", "four_hosts_ib"))],
    *[Case(f"fio_{verb}_{fabric}", lab=lab, **fio(verb)) for fabric, lab in (("roce", ""), ("ib", IB)) for verb in ("write", "read", "send")],
    # Wall clock.
    Case("wall_clock_rc_pingpong", pair("ibv_rc_pingpong", "-g 1"), options=("--clock", "wall"), stdout=(r"iters in",)),
    Case("wall_clock_rc_pingpong_events", pair("ibv_rc_pingpong", "-g 1 -e -n 2000"), options=("--clock", "wall"), stdout=(r"2000 iters",)),
    Case("wall_clock_ib_send_bw", pair("ib_send_bw", "-n 200"), options=("--clock", "wall")),
    # Explanations and statistics.
    Case("explain_tells_every_state_change", pair("ibv_rc_pingpong", "-g 1 -n 10"), options=("--explain",),
         stderr=(r"RESET.*INIT", r"INIT.*RTR", r"RTR.*RTS")),
    Case("explain_names_the_missing_attribute", (("h0", "{bad_modify}"),), options=("--explain",),
         stderr=(r"IBV_QP_MIN_RNR_TIMER",), stdout=(r"errno 22",)),
    Case("raw_packet_qps_send_whole_frames_and_steer_them", (("h0", "{raw_packets}"),), stdout=(r"raw packets: (ok|not permitted)",),
         lab=TWO_ADAPTERS, seconds=1),
    Case("raw_packet_qps_need_cap_net_raw",
         (("h0", "setpriv --bounding-set=-net_raw --inh-caps=-net_raw {raw_packets}"),), stdout=(r"raw packets: not permitted",),
         lab=TWO_ADAPTERS, seconds=1),
    # These two sides do not talk to each other before: the sender waits for the receiver's rule.
    *[Case(name, (("h1", f"{tool} --server -B 02:00:00:00:00:02 -E 02:00:00:00:00:01 {options} {more}"),
                  ("h0", f"sh -c 'sleep 0.01; {tool} --client -B 02:00:00:00:00:01 -E 02:00:00:00:00:02 {options}'")),
           needs=(tool,), stdout=stdout, seconds=1)
      for name, tool, options, more, stdout in [
          ("raw_ethernet_bw_to_an_address", "raw_ethernet_bw", "-s 1024 -n 2000", "", (r"^\[h1\]  1024 +2000 ",)),
          ("raw_ethernet_bw_to_a_udp_port", "raw_ethernet_bw",
           "-s 512 -n 1000 -j 10.0.0.1 -J 10.0.0.2 -k 7001 -K 7000", "", (r"^\[h1\]  512 +1000 ",)),
          ("raw_ethernet_bw_promiscuous", "raw_ethernet_bw", "-s 512 -n 1000", "--promiscuous", (r"^\[h1\]  512 +1000 ",)),
          ("raw_ethernet_lat_ping_pong", "raw_ethernet_lat", "-s 64 -n 500", "", (r"^\[h0\]  64 +500 +1\.\d\d",))]],
    Case("stats_show_no_system_call_on_the_data_path", pair("ib_write_bw", "-n 500"), options=("--stats",),
         stdout=(r"(?i)system calls on the data path\D+0\b",)),
]


SANITIZED = ("ibv_devinfo_shows", "ibv_rc_pingpong_roce", "ibv_ud_pingpong_ib", "ibv_srq_pingpong_roce", "ib_write_lat_roce",
             "ib_read_bw_roce", "ib_atomic_lat_ib", "ib_send_bw_events", "rc_survives", "a_program_that_never", "a_peer_that_crashes",
             "a_forked_child", "explain_names", "wall_clock_rc", "ten_steps_by_gid")
SHORT = [replace(c, sanitized=c.sanitized or c.name.startswith(SANITIZED), seconds=c.seconds or (4 if c.pcap else 2)) for c in SHORT]


def full():
    """The whole matrices of issue A: pingpongs by size and MTU, perftest by tool, option, API and fabric."""
    cases = []
    for lab, gid in (("", "-g 1"), (IB, "")):
        fabric = "ib" if lab else "roce"
        for tool in ("rc", "uc", "srq"):
            for size in (1, 64, 4096, 65536, 1048576):
                for mtu in (256, 1024, 4096):
                    cases.append(Case(f"full_{tool}_pingpong_{fabric}_{size}_{mtu}",
                                      pair(f"ibv_{tool}_pingpong", f"{gid} -s {size} -m {mtu} -n 100".strip()), lab=lab,
                                      stdout=(r"iters in",), seconds=9))
        for test in ("send_bw", "send_lat", "write_bw", "write_lat", "read_bw", "read_lat", "atomic_bw", "atomic_lat"):
            kinds = {"send": ("RC", "UC", "UD", "XRC"), "write": ("RC", "UC", "XRC"), "read": ("RC", "XRC"),
                     "atomic": ("RC", "XRC")}[test.split("_")[0]]
            options = ["", "-e"] if test.startswith("atomic") else ["", "-a", "-e", "-D 1"]
            if test.startswith("write"):
                options.remove("-e")  # perftest has no events on the WRITE verb
            if test.endswith("bw"):
                options += ["-b", "-q 8", "-l 8"]
            else:
                options += ["-I 32"] if test.split("_")[0] in ("send", "write") else []
            for kind, option, api in itertools.product(kinds, options, ("", "--use_old_post_send")):
                if kind == "UD" and option == "-a":
                    option = "-s 2048"
                use_lab = lab
                if option == "-D 1":
                    use_lab = "two_hosts_roce_10g" if not lab else lab
                text = f"-c {kind} {option} {api}".replace("  ", " ").strip()
                if option not in ("-D 1",):
                    text += " -n 200"
                name = f"full_{test}_{fabric}_{text}".replace(" ", "_").replace("-", "")
                cases.append(Case(name, pair(f"ib_{test}", text), lab=use_lab, seconds=60))
        for transports, test in itertools.product(("rc_v", "ud_verbs"), UCX_TESTS):
            cases.append(Case(f"full_ucx_{transports}_{test.split()[0]}_{fabric}", lab=lab, **ucx(transports, test)))
        for test in UCT_TESTS:
            cases.append(Case(f"full_ucx_uct_{test.split()[0]}_{fabric}", lab=lab, **uct(test)))
        cases.append(Case(f"full_ucx_rc_verbs_beside_ud_verbs_{fabric}", lab=lab, **ucx("rc_verbs,ud_verbs", "tag_lat")))
        cases.append(Case(f"full_cmtime_of_3000_connections_{fabric}", (("h0", "timeout 10 cmtime"), ("h1", "cmtime -s h0 -c 3000")), lab=lab,
                          exit=1, needs=("cmtime",), stdout=(r"^\[h1\] disconnect\s+:\s+\d",), seconds=9))
        for tool, options in (*itertools.product(("rstream", "riostream"), ("-T b", "-T a", "-T n", "-T v")),
                              *(("rstream", o) for o in ("-T f", "-T r", "-k 1"))):
            o = f"{options} -S 4096 -I 20 -C 4"
            cases.append(Case(f"full_{tool}_{fabric}_{options}".replace(" ", "_").replace("-", ""), (("h0", f"{tool} {o}"), ("h1", f"{tool} -s h0 {o}")),
                              lab=lab, needs=(tool,), stdout=(r"^\[h1\] custom\s+4k\s+4\s+20",), seconds=3))
    for test in QPERF_SLOW:
        cases.append(Case(f"full_qperf_{test}_ib", seconds=20, **qperf(test, "two_hosts_ib_far", "")))
    unique = {c.name: c for c in cases}
    return list(unique.values())


def by_name(name):
    for case in SHORT + full():
        if case.name == name:
            return case
    raise KeyError(name)
