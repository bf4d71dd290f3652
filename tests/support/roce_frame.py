"""Takes captured frames apart: pcap files, RoCEv1/v2 and InfiniBand packets, their CRCs and checksums.

Written from the formats alone and shares nothing with models/wire, so that each can find the other's mistakes.
Standard library only.
"""
import ipaddress
import struct
import zlib

DLT_ETHERNET, DLT_ERF, DLT_INFINIBAND = 1, 197, 247
ERF_TYPE_INFINIBAND = 21
ROCE_V2_PORT = 4791
VALID_MTUS = (256, 512, 1024, 2048, 4096)

# Low five bits of the opcode: name, operation, place in the message, extension headers in wire order.
OPERATIONS = {
    0x00: ("SEND_FIRST", "SEND", "first", ()),
    0x01: ("SEND_MIDDLE", "SEND", "middle", ()),
    0x02: ("SEND_LAST", "SEND", "last", ()),
    0x03: ("SEND_LAST_IMM", "SEND", "last", ("ImmDt",)),
    0x04: ("SEND_ONLY", "SEND", "only", ()),
    0x05: ("SEND_ONLY_IMM", "SEND", "only", ("ImmDt",)),
    0x06: ("WRITE_FIRST", "WRITE", "first", ("RETH",)),
    0x07: ("WRITE_MIDDLE", "WRITE", "middle", ()),
    0x08: ("WRITE_LAST", "WRITE", "last", ()),
    0x09: ("WRITE_LAST_IMM", "WRITE", "last", ("ImmDt",)),
    0x0A: ("WRITE_ONLY", "WRITE", "only", ("RETH",)),
    0x0B: ("WRITE_ONLY_IMM", "WRITE", "only", ("RETH", "ImmDt")),
    0x0C: ("READ_REQ", "READ", "only", ("RETH",)),
    0x0D: ("READ_RESP_FIRST", "READ_RESP", "first", ("AETH",)),
    0x0E: ("READ_RESP_MIDDLE", "READ_RESP", "middle", ()),
    0x0F: ("READ_RESP_LAST", "READ_RESP", "last", ("AETH",)),
    0x10: ("READ_RESP_ONLY", "READ_RESP", "only", ("AETH",)),
    0x11: ("ACK", "ACK", "only", ("AETH",)),
    0x12: ("ATOMIC_ACK", "ATOMIC_ACK", "only", ("AETH", "AtomicAckETH")),
    0x13: ("CMP_SWAP", "ATOMIC", "only", ("AtomicETH",)),
    0x14: ("FETCH_ADD", "ATOMIC", "only", ("AtomicETH",)),
    0x16: ("SEND_LAST_INV", "SEND", "last", ("IETH",)),
    0x17: ("SEND_ONLY_INV", "SEND", "only", ("IETH",)),
    0x1C: ("FLUSH", "FLUSH", "only", ("FETH", "RETH")),
    0x1D: ("ATOMIC_WRITE", "ATOMIC_WRITE", "only", ("RETH",)),
}
TRANSPORTS = {0x00: "RC", 0x20: "UC", 0x60: "UD", 0xA0: "XRC"}
RESPONSES = ("READ_RESP", "ACK", "ATOMIC_ACK")
WITH_PAYLOAD = ("SEND", "WRITE", "READ_RESP", "ATOMIC_WRITE")
HEADER_BYTES = {"XRCETH": 4, "DETH": 8, "FETH": 4, "RETH": 16, "AtomicETH": 28, "AETH": 4, "AtomicAckETH": 8,
                "ImmDt": 4, "IETH": 4}
NAK_NAMES = {0: "PSN_SEQ_ERR", 1: "INVALID_REQ", 2: "REM_ACCESS_ERR", 3: "REM_OP_ERR", 4: "INVALID_RD_REQ"}
RNR_MS = (655.36, .01, .02, .03, .04, .06, .08, .12, .16, .24, .32, .48, .64, .96, 1.28, 1.92, 2.56, 3.84, 5.12,
          7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52)


class CaptureError(Exception):
    """The file is not a capture that can be read."""


def number(data):
    return int.from_bytes(data, "big")


def read_pcap(path):
    """(link type, [(time in ns, frame bytes, original length)]) of a classic pcap file, µs or ns, either byte order."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 24:
        raise CaptureError("shorter than a pcap file header")
    for order in "<>":
        magic = struct.unpack(order + "I", data[:4])[0]
        if magic in (0xA1B2C3D4, 0xA1B23C4D):
            break
    else:
        raise CaptureError("not a classic pcap file")
    unit = 1 if magic == 0xA1B23C4D else 1000
    major, _, _, _, _, link_type = struct.unpack(order + "HHiIII", data[4:24])
    if major != 2:
        raise CaptureError("pcap version %d" % major)
    records, at = [], 24
    while at < len(data):
        if at + 16 > len(data):
            raise CaptureError("record header cut off at byte %d" % at)
        seconds, fraction, captured, original = struct.unpack(order + "IIII", data[at:at + 16])
        if fraction * unit >= 10**9:
            raise CaptureError("fraction of a second out of range at byte %d" % at)
        if at + 16 + captured > len(data):
            raise CaptureError("frame cut off at byte %d" % at)
        records.append((seconds * 10**9 + fraction * unit, data[at + 16:at + 16 + captured], original))
        at += 16 + captured
    if link_type & 0xFFFF == DLT_ERF:
        return DLT_INFINIBAND, [unwrap_erf(*record) for record in records]
    return link_type & 0xFFFF, records


def unwrap_erf(time_ns, data, original):
    """The InfiniBand frame in an ERF record of a pcap file."""
    if len(data) < 16 or original != len(data):
        raise CaptureError("ERF record of %d bytes, %d captured" % (original, len(data)))
    stamp = struct.unpack("<Q", data[:8])[0]
    record_length, lost, frame_length = struct.unpack(">HHH", data[10:16])
    if data[8] != ERF_TYPE_INFINIBAND or lost or record_length != len(data) or frame_length != len(data) - 16:
        raise CaptureError("ERF header %s is not that of an InfiniBand frame" % data[8:16].hex())
    if (stamp * 10**9 + 2**31) >> 32 != time_ns:
        raise CaptureError("ERF and pcap time stamps differ at %d ns" % time_ns)
    return time_ns, data[16:], len(data) - 16


def vcrc_byte_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0xD008 if byte & 1 else 0)  # 0x100B, bits reversed
        table.append(byte)
    return table


VCRC_TABLE = vcrc_byte_table()


def vcrc(data):
    crc = 0xFFFF
    for byte in data:
        crc = crc >> 8 ^ VCRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFF


def ones_complement_sum(data):
    """Of an even number of bytes."""
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


class Packet:
    """One transport packet, or a frame that carries none (`kind` then says what it is, `opcode` is None)."""

    def __init__(self, index, time_ns, frame):
        self.index, self.time_ns, self.frame = index, time_ns, frame
        self.problems = []      # what is wrong with it, in words
        self.icrc_ok = True
        self.kind, self.src, self.dst = "other", "", ""
        self.opcode, self.name, self.transport, self.operation, self.position = None, "", "", "", ""
        self.se = self.migreq = self.fecn = self.becn = self.ack_req = False
        self.pad = self.pkey = self.dest_qp = self.psn = 0
        self.ecn = self.dscp = self.sl = 0
        self.vlan = None
        self.udp_source = None
        self.headers = {}       # extension headers by name
        self.payload = b""

    def wrong(self, text):
        self.problems.append(text)

    @property
    def is_response(self):
        return self.operation in RESPONSES

    @property
    def is_request(self):
        return self.opcode is not None and not self.is_response and self.transport != "CNP"

    @property
    def starts_message(self):
        return self.position in ("first", "only")

    @property
    def syndrome(self):
        """(kind, value) of the AETH: 'ACK', 'RNR' or 'NAK'; None without one."""
        aeth = self.headers.get("AETH")
        if aeth is None:
            return None
        return {0: "ACK", 1: "RNR", 3: "NAK"}.get(aeth["syndrome"] >> 5, "reserved"), aeth["syndrome"] & 31


def decode_frame(link_type, index, time_ns, frame, original_length):
    packet = Packet(index, time_ns, frame)
    if original_length != len(frame):
        packet.wrong("frame truncated: %d of %d bytes captured" % (len(frame), original_length))
        return packet
    try:
        if link_type == DLT_INFINIBAND:
            decode_infiniband(packet, frame)
        else:
            decode_ethernet(packet, frame)
    except (IndexError, ValueError, struct.error):
        packet.wrong("headers cut off")
    return packet


def decode_infiniband(packet, frame):
    if len(frame) < 8 + 12 + 4 + 2:
        packet.wrong("too short for an InfiniBand packet")
        return
    packet.kind = "IB"
    packet.sl, next_header = frame[1] >> 4, frame[1] & 3
    packet.dst, packet.src = "lid %d" % number(frame[2:4]), "lid %d" % number(frame[6:8])
    if frame[0] & 15:
        packet.wrong("LRH.LVer is %d" % (frame[0] & 15))
    if frame[1] & 0x0C or frame[4] & 0xF8:
        packet.wrong("reserved bits of the LRH are set")
    words = number(frame[4:6]) & 0x7FF
    if words * 4 + 2 != len(frame):
        packet.wrong("LRH.PktLen says %d bytes, the packet has %d" % (words * 4, len(frame) - 2))
    if vcrc(frame[:-2]) != struct.unpack("<H", frame[-2:])[0]:
        packet.wrong("bad VCRC")
    covered = bytearray(frame[:-6])
    covered[0] |= 0xF0
    bth_at = 8
    if next_header == 3:
        packet.kind = "IB+GRH"
        bth_at = 48
        check_grh(packet, frame[8:48], len(frame) - 48 - 2)
        mask_like_ipv6(covered, 8)
    elif next_header != 2:
        packet.kind = "raw IB"
        return
    decode_transport(packet, frame[:-2], bth_at, covered, bth_at)


def decode_ethernet(packet, frame):
    at, ethertype = 14, number(frame[12:14])
    if ethertype == 0x8100:
        tci = number(frame[14:16])
        packet.vlan = (tci >> 13, tci & 0xFFF)
        at, ethertype = 18, number(frame[16:18])
    if ethertype == 0x8915:
        decode_roce_v1(packet, frame, at)
    elif ethertype == 0x0800:
        decode_ipv4(packet, frame, at)
    elif ethertype == 0x86DD:
        decode_ipv6(packet, frame, at)
    elif ethertype == 0x8808:
        packet.kind = "PFC" if number(frame[at:at + 2]) == 0x0101 else "MAC control"
    elif ethertype == 0x0806:
        packet.kind = "ARP"


def check_padding(packet, frame, end):
    if end > len(frame):
        packet.wrong("frame ends %d bytes before its packet" % (end - len(frame)))
        return False
    if any(frame[end:]):
        packet.wrong("Ethernet padding is not zero")
    if len(frame) > end and len(frame) > 60:
        packet.wrong("%d bytes behind the packet" % (len(frame) - end))
    return True


def check_grh(packet, grh, bytes_behind):
    if grh[0] >> 4 != 6 or grh[6] != 0x1B:
        packet.wrong("GRH has IPVer %d, NxtHdr %#x" % (grh[0] >> 4, grh[6]))
    if bytes_behind is not None and number(grh[4:6]) != bytes_behind:
        packet.wrong("GRH.PayLen is %d, %d bytes follow" % (number(grh[4:6]), bytes_behind))


def mask_like_ipv6(covered, at):
    covered[at] |= 0x0F
    covered[at + 1:at + 4] = b"\xff\xff\xff"
    covered[at + 7] = 0xFF


def decode_roce_v1(packet, frame, at):
    packet.kind = "RoCEv1"
    grh = frame[at:at + 40]
    end = at + 40 + number(grh[4:6])
    check_grh(packet, grh, None)
    packet.src, packet.dst = (str(ipaddress.IPv6Address(grh[i:i + 16])) for i in (8, 24))
    if check_padding(packet, frame, end):
        covered = bytearray(b"\xff" * 8 + frame[at:end - 4])
        mask_like_ipv6(covered, 8)
        decode_transport(packet, frame[:end], at + 40, covered, 48)


def decode_ipv4(packet, frame, at):
    header_bytes = (frame[at] & 15) * 4
    if frame[at] >> 4 != 4 or header_bytes < 20:
        packet.wrong("IPv4 header starts with %#04x" % frame[at])
        return
    header = frame[at:at + header_bytes]
    packet.src, packet.dst = (str(ipaddress.IPv4Address(header[i:i + 4])) for i in (12, 16))
    packet.dscp, packet.ecn = header[1] >> 2, header[1] & 3
    packet.kind = "IPv4"
    if ones_complement_sum(header) != 0xFFFF:
        packet.wrong("bad IPv4 checksum")
    fragment = number(header[6:8]) & 0x3FFF
    if header[9] == 17 and not fragment:
        decode_udp(packet, frame, at, at + header_bytes, at + number(header[2:4]))


def decode_ipv6(packet, frame, at):
    header = frame[at:at + 40]
    if header[0] >> 4 != 6:
        packet.wrong("IPv6 header starts with %#04x" % header[0])
        return
    packet.src, packet.dst = (str(ipaddress.IPv6Address(header[i:i + 16])) for i in (8, 24))
    traffic_class = number(header[:2]) >> 4 & 0xFF
    packet.dscp, packet.ecn = traffic_class >> 2, traffic_class & 3
    packet.kind = "IPv6"
    if header[6] == 17:
        decode_udp(packet, frame, at, at + 40, at + 40 + number(header[4:6]))


def decode_udp(packet, frame, ip_at, at, end):
    if number(frame[at + 2:at + 4]) != ROCE_V2_PORT:
        return
    packet.kind = "RoCEv2/" + packet.kind
    packet.udp_source = number(frame[at:at + 2])
    if number(frame[at + 4:at + 6]) != end - at:
        packet.wrong("UDP length is %d, IP leaves %d bytes" % (number(frame[at + 4:at + 6]), end - at))
    if not check_padding(packet, frame, end):
        return
    if frame[at + 6:at + 8] != b"\0\0":
        addresses = frame[ip_at + 12:ip_at + 20] if packet.kind.endswith("IPv4") else frame[ip_at + 8:ip_at + 40]
        pseudo_header = addresses + struct.pack(">II", end - at, 17)
        if ones_complement_sum(pseudo_header + frame[at:end] + bytes((end - at) % 2)) != 0xFFFF:
            packet.wrong("bad UDP checksum")
    covered = bytearray(b"\xff" * 8 + frame[ip_at:end - 4])
    if packet.kind.endswith("IPv4"):
        covered[8 + 1] = covered[8 + 8] = covered[8 + 10] = covered[8 + 11] = 0xFF
    else:
        mask_like_ipv6(covered, 8)
    udp_at = 8 + at - ip_at
    covered[udp_at + 6:udp_at + 8] = b"\xff\xff"
    decode_transport(packet, frame[:end], at + 8, covered, udp_at + 8)


def decode_transport(packet, data, at, covered, covered_bth):
    """`data` ends behind the ICRC; the BTH is at `at` in it and at `covered_bth` in what the ICRC covers."""
    if len(data) < at + 12 + 4:
        packet.wrong("too short for a BTH and an ICRC")
        return
    covered[covered_bth + 4] = 0xFF
    packet.icrc_ok = zlib.crc32(covered) == struct.unpack("<I", data[-4:])[0]
    if not packet.icrc_ok:
        packet.wrong("bad ICRC")
    bth = data[at:at + 12]
    packet.opcode = bth[0]
    packet.se, packet.migreq, packet.pad = bool(bth[1] & 0x80), bool(bth[1] & 0x40), bth[1] >> 4 & 3
    packet.pkey, packet.dest_qp, packet.psn = number(bth[2:4]), number(bth[5:8]), number(bth[9:12])
    packet.fecn, packet.becn, packet.ack_req = bool(bth[4] & 0x80), bool(bth[4] & 0x40), bool(bth[8] & 0x80)
    if bth[1] & 15:
        packet.wrong("BTH.TVer is %d" % (bth[1] & 15))
    if bth[4] & 0x3F or bth[8] & 0x7F:
        packet.wrong("reserved bits of the BTH are set")
    if packet.pkey & 0x7FFF == 0:
        packet.wrong("P_Key %#06x is invalid" % packet.pkey)
    decode_behind_bth(packet, data[at + 12:-4])


def decode_behind_bth(packet, rest):
    if packet.opcode == 0x81:
        packet.name = packet.transport = packet.operation = "CNP"
        packet.position = "only"
        if len(rest) != 16 or any(rest) or not packet.becn:
            packet.wrong("a CNP has BECN set and 16 zero bytes")
        return
    transport, known = TRANSPORTS.get(packet.opcode & 0xE0), OPERATIONS.get(packet.opcode & 0x1F)
    base = packet.opcode & 0x1F
    if transport is None or known is None or (transport == "UC" and base > 0x0B) or (
            transport == "UD" and base not in (4, 5)):
        packet.wrong("reserved opcode %#04x" % packet.opcode)
        packet.name = "opcode %#04x" % packet.opcode
        return
    packet.transport = transport
    packet.name = transport + " " + known[0]
    packet.operation, packet.position, headers = known[1:]
    if transport == "UD":
        headers = ("DETH",) + headers
    if transport == "XRC" and packet.operation not in RESPONSES:
        headers = ("XRCETH",) + headers
    for header in headers:
        size = HEADER_BYTES[header]
        if len(rest) < size:
            packet.wrong("too short for its " + header)
            return
        packet.headers[header] = decode_header(header, rest[:size])
        rest = rest[size:]
    check_payload(packet, rest)


def decode_header(name, data):
    if name == "RETH":
        return {"va": number(data[:8]), "rkey": number(data[8:12]), "len": number(data[12:16])}
    if name == "AETH":
        return {"syndrome": data[0], "msn": number(data[1:4])}
    if name == "AtomicETH":
        return {"va": number(data[:8]), "rkey": number(data[8:12]), "swap_add": number(data[12:20]),
                "compare": number(data[20:28])}
    if name == "DETH":
        return {"qkey": number(data[:4]), "src_qp": number(data[5:8])}
    if name == "XRCETH":
        return {"srq": number(data[1:4])}
    return {"value": number(data)}


def check_payload(packet, rest):
    if len(rest) % 4:
        packet.wrong("payload with pad is %d bytes, not a multiple of 4" % len(rest))
    if packet.pad > len(rest):
        packet.wrong("PadCnt %d, but only %d bytes" % (packet.pad, len(rest)))
        return
    packet.payload = rest[:len(rest) - packet.pad]
    if any(rest[len(rest) - packet.pad:]):
        packet.wrong("pad bytes are not zero")
    size = len(packet.payload)
    if packet.operation not in WITH_PAYLOAD and rest:
        packet.wrong("%d bytes of payload in a packet that has none" % len(rest))
    if packet.position in ("first", "middle") and size not in VALID_MTUS:
        packet.wrong("%d bytes of payload in a %s packet: not a path MTU" % (size, packet.position))
    if packet.position == "last" and size == 0:
        packet.wrong("last packet without payload")
    if size > VALID_MTUS[-1]:
        packet.wrong("%d bytes of payload: larger than any path MTU" % size)
    if packet.syndrome is not None and (packet.syndrome[0] == "reserved" or packet.headers["AETH"]["syndrome"] & 0x80):
        packet.wrong("reserved AETH syndrome %#04x" % packet.headers["AETH"]["syndrome"])
    reth = packet.headers.get("RETH")
    if reth and packet.operation == "WRITE" and packet.position == "only" and reth["len"] != size:
        packet.wrong("RETH says %d bytes, the packet has %d" % (reth["len"], size))
