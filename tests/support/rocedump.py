#!/usr/bin/env python3
"""Decodes captures of RoCEv1, RoCEv2 (IPv4, IPv6, tagged) and InfiniBand (bare or in ERF records), and checks them.

    rocedump.py FILE...              one line per packet, with what is wrong with it
    rocedump.py --check FILE...      only what is wrong, one line each; exit status 1 if there is anything
    rocedump.py --summary FILE...    counts by opcode

Checked: ICRC, VCRC, IPv4 and UDP checksums, lengths, reserved bits, opcodes, pad, path MTU, PSN continuity of every requester,
message structure, that every RC request is answered (ACKs are cumulative), that READs get all their bytes.
"""
import argparse
import collections
import sys

from roce_flows import Flows
from roce_frame import (CaptureError, DLT_ETHERNET, DLT_INFINIBAND, NAK_NAMES, RNR_MS, decode_frame, read_pcap)

ECN_NAMES = ("", " ECT1", " ECT0", " CE")


def describe_headers(packet):
    text = ""
    for name, fields in packet.headers.items():
        if name == "AETH":
            kind, value = packet.syndrome
            meaning = {"ACK": "credits %d" % value, "RNR": "timer %d (%g ms)" % (value, RNR_MS[value]),
                       "NAK": NAK_NAMES.get(value, str(value))}.get(kind, "")
            text += " %s %s msn=%d" % (kind, meaning, fields["msn"])
        elif name == "RETH":
            text += " va=%#x rkey=%#x len=%d" % (fields["va"], fields["rkey"], fields["len"])
        elif name == "AtomicETH":
            text += " va=%#x rkey=%#x swap/add=%d compare=%d" % (fields["va"], fields["rkey"], fields["swap_add"],
                                                               fields["compare"])
        elif name == "DETH":
            text += " qkey=%#x src_qp=%#x" % (fields["qkey"], fields["src_qp"])
        else:
            text += " %s=%#x" % (name, next(iter(fields.values())))
    return text


def describe(packet, start_ns):
    line = "%5d %12.3f us %s > %s %s" % (packet.index, (packet.time_ns - start_ns) / 1000, packet.src, packet.dst,
                                         packet.kind)
    if packet.opcode is not None:
        flags = "".join(text for text, on in ((" SE", packet.se), (" FECN", packet.fecn), (" BECN", packet.becn),
                                              (" AckReq", packet.ack_req)) if on)
        line += " %s qp=%#x psn=%#08x%s%s len=%d pad=%d%s" % (
            packet.name, packet.dest_qp, packet.psn, flags, ECN_NAMES[packet.ecn], len(packet.payload), packet.pad,
            describe_headers(packet))
        if packet.vlan is not None:
            line += " vlan=%d prio=%d" % (packet.vlan[1], packet.vlan[0])
    return line


def load(path, options, problem):
    """The packets of a file; problems of single packets and of flows are reported through `problem`."""
    link_type, records = read_pcap(path)
    if link_type not in (DLT_ETHERNET, DLT_INFINIBAND):
        raise CaptureError("link type %d is neither Ethernet nor InfiniBand" % link_type)
    packets, flows, previous_ns = [], Flows(problem), 0
    for index, (time_ns, frame, original) in enumerate(records, 1):
        packet = decode_frame(link_type, index, time_ns, frame, original)
        packets.append(packet)
        if time_ns < previous_ns:
            packet.wrong("goes back in time by %d ns" % (previous_ns - time_ns))
        previous_ns = time_ns
        for text in packet.problems:
            if not (options.allow_bad_icrc and text in ("bad ICRC", "bad VCRC")):
                problem(packet, text)
        if packet.icrc_ok and packet.opcode is not None:
            flows.add(packet)
    flows.finish(options.allow_unacked, options.allow_gaps)
    transport_packets = sum(p.opcode is not None for p in packets)
    if transport_packets < options.min_packets:
        raise CaptureError("%d RoCE or InfiniBand packets, at least %d expected"
                           % (transport_packets, options.min_packets))
    return packets, flows


def dump(path, options):
    """Prints what was asked for; returns the number of problems."""
    problems = []
    try:
        packets, flows = load(path, options, lambda packet, text: problems.append((packet, text)))
    except (CaptureError, OSError) as error:
        print("%s: %s" % (path, error))
        return 1
    if not options.check and not options.summary:
        wrong = collections.defaultdict(list)
        for packet, text in problems:
            wrong[packet.index].append(text)
        print("# %s: %d frames" % (path, len(packets)))
        for packet in packets:
            print(describe(packet, packets[0].time_ns) + "".join("  !! " + t for t in wrong[packet.index]))
    if options.summary:
        counts = collections.Counter(p.name or p.kind for p in packets)
        print("# %s: %d frames, %d problems" % (path, len(packets), len(problems)))
        for name, count in sorted(counts.items()):
            print("%8d %s" % (count, name))
        again = sum(r.retransmissions for connections in flows.requests.values() for r in connections)
        print("%8d requests sent again" % again)
    if options.check:
        for packet, text in problems:
            print("%s: packet %d (%s): %s" % (path, packet.index, packet.name or packet.kind, text))
    return len(problems)


def main(arguments):
    parser = argparse.ArgumentParser(description="Decode and check RoCE and InfiniBand captures.")
    parser.add_argument("--check", action="store_true", help="print problems only; exit status 1 if there are any")
    parser.add_argument("--summary", action="store_true", help="print counts by opcode")
    parser.add_argument("--allow-unacked", action="store_true", help="requests may stay unanswered (a dead peer)")
    parser.add_argument("--allow-gaps", action="store_true", help="PSNs may be missing (lost before this port)")
    parser.add_argument("--allow-bad-icrc", action="store_true", help="packets may be corrupt; they count as lost")
    parser.add_argument("--min-packets", type=int, default=0, help="fewer RoCE or InfiniBand packets than this are a problem")
    parser.add_argument("files", nargs="+", metavar="FILE")
    options = parser.parse_args(arguments)
    problems = sum(dump(path, options) for path in options.files)
    return 1 if problems and options.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
