#!/usr/bin/env python3
"""The decoder against captures of another implementation: it accepts what is right and finds what is broken."""
import contextlib
import io
import os
import struct
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import roce_frame  # noqa: E402
import rocedump  # noqa: E402

CAPTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "captures")
ETHERNET, INFINIBAND = roce_frame.DLT_ETHERNET, roce_frame.DLT_INFINIBAND


def capture(name):
    return os.path.join(CAPTURES, name)


def write_pcap(path, link_type, frames, magic=0xA1B23C4D, order="<"):
    with open(path, "wb") as file:
        file.write(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link_type))
        for number, frame in enumerate(frames):
            file.write(struct.pack(order + "IIII", 1, number * 1000 % 1000000, len(frame), len(frame)) + frame)


def run(*arguments):
    """(exit status, printed lines)"""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = rocedump.main(list(arguments))
    return status, printed.getvalue().splitlines()


def run_on(frames, *arguments, link_type=ETHERNET, **pcap):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.pcap")
        write_pcap(path, link_type, frames, **pcap)
        return run(*arguments, path)


def frames_of(name):
    return [frame for _, frame, _ in roce_frame.read_pcap(capture(name))[1]]


def roce_numbers(frames):
    return [n for n, f in enumerate(frames) if roce_frame.decode_frame(ETHERNET, n, 0, f, len(f)).opcode is not None]


def ib_frame(bth_and_behind, dlid=2, slid=1, vl=0, sl=0):
    """A local InfiniBand packet around a transport packet without its ICRC."""
    words = (8 + len(bth_and_behind) + 4) // 4
    lrh = bytes([vl << 4, sl << 4 | 2]) + struct.pack(">HHH", dlid, words, slid)
    masked = bytearray(lrh + bth_and_behind)
    masked[0] |= 0xF0
    masked[12] = 0xFF
    packet = lrh + bth_and_behind + struct.pack("<I", zlib.crc32(masked))
    return packet + struct.pack("<H", roce_frame.vcrc(packet))


def bth(opcode, qp, psn, pad=0, ack_req=False):
    return struct.pack(">BBHII", opcode, 0x40 | pad << 4, 0xFFFF, qp, (0x80000000 if ack_req else 0) | psn)


def send_only(psn, qp=7):
    return ib_frame(bth(0x04, qp, psn, ack_req=True) + b"data")


def ack(psn, qp=9, syndrome=0x1F):
    return ib_frame(bth(0x11, qp, psn) + struct.pack(">I", syndrome << 24 | 1), dlid=1, slid=2)


class GoodCaptures(unittest.TestCase):
    def test_captures_of_soft_roce_have_nothing_wrong(self):
        for name, packets in (("rc_fetch_add.pcap", 10), ("rc_pingpong_ipv6.pcap", 30), ("ud_with_cm.pcap", 8)):
            with self.subTest(name):
                self.assertEqual(run("--check", "--min-packets", str(packets), capture(name)), (0, []))

    def test_requests_after_the_last_rnr_nak_are_unanswered_and_may_be_allowed(self):
        status, lines = run("--check", capture("rc_rnr_retries.pcap"))
        self.assertEqual(status, 1)
        self.assertEqual(len(lines), 2)
        self.assertTrue(all("never answered" in line for line in lines))
        self.assertEqual(run("--check", "--allow-unacked", capture("rc_rnr_retries.pcap")), (0, []))

    def test_the_summary_counts_by_opcode(self):
        _, lines = run("--summary", capture("rc_pingpong_ipv6.pcap"))
        counts = {line.split(None, 1)[1]: int(line.split()[0]) for line in lines[1:]}
        self.assertEqual(counts["RC SEND_FIRST"], 6)
        self.assertEqual(counts["RC SEND_MIDDLE"], 12)
        self.assertEqual(counts["RC ACK"], 6)

    def test_a_line_per_frame_is_printed(self):
        _, lines = run(capture("rc_fetch_add.pcap"))
        self.assertEqual(len(lines), 1 + len(frames_of("rc_fetch_add.pcap")))

    def test_both_magics_and_both_byte_orders_are_read(self):
        frames = frames_of("rc_fetch_add.pcap")
        for order in "<>":
            for magic in (0xA1B2C3D4, 0xA1B23C4D):
                self.assertEqual(run_on(frames, "--check", magic=magic, order=order), (0, []))

    def test_too_few_packets_are_a_problem(self):
        self.assertEqual(run_on([], "--check", "--min-packets", "1")[0], 1)

    def test_a_cut_off_file_is_a_problem(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cut.pcap")
            with open(capture("rc_fetch_add.pcap"), "rb") as whole, open(path, "wb") as cut:
                cut.write(whole.read()[:-1])
            self.assertEqual(run("--check", path)[0], 1)


class BrokenPackets(unittest.TestCase):
    def check_every_flip(self, name, ip_version):
        frames = frames_of(name)
        number = roce_numbers(frames)[0]
        frame = frames[number]
        udp_at = 14 + (20 if ip_version == 4 else 40)
        unprotected = {udp_at + 6, udp_at + 7}      # the UDP checksum
        if ip_version == 6:
            unprotected |= {15, 16, 17, 21}         # class, flow label, hop limit
        for at in range(14, len(frame)):
            if at in unprotected or (ip_version == 6 and at == 14):
                continue
            for bit in (0, 5):
                broken = bytearray(frame)
                broken[at] ^= 1 << bit
                packet = roce_frame.decode_frame(ETHERNET, 1, 0, bytes(broken), len(broken))
                noticed = packet.problems or packet.opcode is None
                self.assertTrue(noticed, "bit %d of byte %d" % (bit, at))

    def test_every_flipped_bit_is_noticed_over_ipv4(self):
        self.check_every_flip("rc_fetch_add.pcap", 4)

    def test_every_flipped_bit_is_noticed_over_ipv6(self):
        self.check_every_flip("rc_pingpong_ipv6.pcap", 6)

    def test_a_flipped_payload_bit_is_named_bad_icrc_and_fails_the_check(self):
        frames = frames_of("rc_pingpong_ipv6.pcap")
        number = roce_numbers(frames)[0]
        frames[number] = frames[number][:-8] + bytes([frames[number][-8] ^ 1]) + frames[number][-7:]
        status, lines = run_on(frames, "--check", "--allow-unacked")
        self.assertEqual(status, 1)
        self.assertIn("packet %d (RC SEND_FIRST): bad ICRC" % (number + 1), lines[0])


class Flows(unittest.TestCase):
    def check(self, frames, *arguments):
        return run_on(frames, "--check", *arguments, link_type=INFINIBAND)

    def test_one_ack_answers_everything_before_it(self):
        self.assertEqual(self.check([send_only(n) for n in range(5)] + [ack(4)]), (0, []))

    def test_psns_wrap(self):
        psns = [0xFFFFFE, 0xFFFFFF, 0, 1]
        self.assertEqual(self.check([send_only(n) for n in psns] + [ack(1)]), (0, []))

    def test_a_request_without_an_ack_is_found(self):
        status, lines = self.check([send_only(0), send_only(1), ack(0)])
        self.assertEqual(status, 1)
        self.assertIn("PSN 0x1 is never answered", lines[0])

    def test_a_missing_request_is_a_gap(self):
        frames = [send_only(0), send_only(2), ack(2)]
        status, lines = self.check(frames)
        self.assertEqual(status, 1)
        self.assertIn("PSNs 0x1 to 0x1 never sent", lines[0])
        self.assertEqual(self.check(frames, "--allow-gaps"), (0, []))

    def test_a_gap_that_a_retransmission_fills_is_none(self):
        nak = ack(1, syndrome=0x60)
        self.assertEqual(self.check([send_only(0), send_only(2), nak, send_only(1), send_only(2), ack(2)]), (0, []))

    def test_an_ack_for_what_was_never_sent_is_found(self):
        status, lines = self.check([send_only(0), ack(5)])
        self.assertEqual(status, 1)
        self.assertIn("answer no requests", lines[0])

    def test_an_rnr_nak_is_no_answer(self):
        self.assertEqual(self.check([send_only(0), ack(0, syndrome=0x21)])[0], 1)

    def test_a_fatal_nak_answers_and_excuses_what_follows(self):
        self.assertEqual(self.check([send_only(0), send_only(1), ack(0, syndrome=0x62)]), (0, []))

    def test_a_message_without_an_end_is_found(self):
        first = ib_frame(bth(0x00, 7, 0) + bytes(256))
        status, lines = self.check([first, send_only(1), ack(1)])
        self.assertEqual(status, 1)
        self.assertIn("has no end", lines[0])

    def test_a_read_needs_all_its_responses(self):
        request = ib_frame(bth(0x0C, 7, 10) + struct.pack(">QII", 0x1000, 5, 600))
        aeth = struct.pack(">I", 0x1F000001)
        answers = [ib_frame(bth(0x0D, 9, 10) + aeth + bytes(256), dlid=1, slid=2),
                   ib_frame(bth(0x0E, 9, 11) + bytes(256), dlid=1, slid=2),
                   ib_frame(bth(0x0F, 9, 12) + aeth + bytes(88), dlid=1, slid=2)]
        following = [send_only(13), ack(13)]
        self.assertEqual(self.check([request] + answers), (0, []))
        self.assertEqual(self.check([request] + answers + following), (0, []))
        status, lines = self.check([request] + answers[:1] + answers[2:] + following)
        self.assertEqual(status, 1)
        self.assertIn("READ without 1 of its 3 responses", lines[0])

    def test_two_pairs_of_queue_pairs_are_told_apart(self):
        frames = [send_only(100, qp=7), send_only(5000, qp=8), ack(5000, qp=10), ack(100, qp=9)]
        self.assertEqual(self.check(frames), (0, []))
        status, lines = self.check(frames[:-1])
        self.assertEqual((status, len(lines)), (1, 1))
        self.assertIn("QP 0x7", lines[0])


class Erf(unittest.TestCase):
    FRAME = send_only(0)

    def read(self, data):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "erf.pcap")
            write_pcap(path, roce_frame.DLT_ERF, [data])
            return roce_frame.read_pcap(path)

    def record(self, stamp=1 << 32, kind=21, length=None):
        size = len(self.FRAME)
        return struct.pack("<Q", stamp) + struct.pack(">BBHHH", kind, 4, 16 + size, 0, length or size) + self.FRAME

    def test_infiniband_is_taken_out_of_its_erf_record(self):
        link_type, records = self.read(self.record())
        self.assertEqual((link_type, records), (INFINIBAND, [(10**9, self.FRAME, len(self.FRAME))]))

    def test_other_types_lengths_and_times_are_refused(self):
        for data in (self.record(kind=2), self.record(length=5), self.record(stamp=2 << 32), self.record()[:15]):
            with self.assertRaises(roce_frame.CaptureError):
                self.read(data)


class InfiniBand(unittest.TestCase):
    # The local packet worked out in the InfiniBand specification, vol. 1, 7.8: its ICRC is 96 25 B7 5A.
    SAMPLE = bytes.fromhex("7012375c000e17d20a2024870087b1b3000dec2a01710a1c015d400238f27a05"
                           "0000000ebb884d85fd5cfba4728bc0690ed40000")

    def test_the_icrc_of_the_specifications_packet(self):
        icrc = bytes.fromhex("9625b75a")
        packet = self.SAMPLE + icrc
        good = roce_frame.decode_frame(INFINIBAND, 1, 0, packet + struct.pack("<H", roce_frame.vcrc(packet)), 58)
        self.assertTrue(good.icrc_ok)
        self.assertNotIn("bad VCRC", good.problems)
        broken = roce_frame.decode_frame(INFINIBAND, 1, 0, self.SAMPLE + b"\x96\x25\xb7\x5b\0\0", 58)
        self.assertIn("bad ICRC", broken.problems)
        self.assertIn("bad VCRC", broken.problems)

    def test_a_switch_may_change_the_vl_without_a_new_icrc(self):
        frame = bytearray(send_only(0))
        frame[0] |= 0x30
        frame[-2:] = struct.pack("<H", roce_frame.vcrc(frame[:-2]))
        self.assertEqual(roce_frame.decode_frame(INFINIBAND, 1, 0, bytes(frame), len(frame)).problems, [])


if __name__ == "__main__":
    unittest.main()
