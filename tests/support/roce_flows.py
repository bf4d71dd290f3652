"""Checks that span packets: PSN continuity, message structure, and that requests are answered.

An RC packet does not name its sender's QP, so which flow of responses answers which flow of requests is found from
their PSNs: a response must lie in what its requester had sent by then.
"""
import bisect

from roce_frame import VALID_MTUS

MODULUS = 1 << 24
# A message that starts this far from the last PSN is taken for a new connection with the same QP numbers.
NEW_CONNECTION_STEPS = 1 << 16
FATAL_NAKS = (1, 2, 3, 4)


def distance(start, end):
    steps = (end - start) % MODULUS
    return steps if steps < MODULUS // 2 else steps - MODULUS


def read_spans(length):
    """How many PSNs a READ of `length` bytes may take, over all path MTUs."""
    return sorted({max(1, -(-length // mtu)) for mtu in VALID_MTUS})


class Requests:
    """What one requester QP sent to one responder QP. PSNs are counted on without wrapping, from the first on."""

    def __init__(self, key, transport, first_psn):
        self.key, self.transport = key, transport
        self.base_psn = first_psn
        self.next = 0               # the position behind everything sent so far
        self.packets = {}           # position -> the newest packet there
        self.spans = {}             # position of a READ -> PSNs it takes
        self.open_read = None       # the newest READ, as long as its span is not known
        self.growth = []            # (packet index, self.next from then on)
        self.retransmissions = 0

    def position(self, psn):
        return self.next + distance((self.base_psn + self.next) % MODULUS, psn)

    def settle_open_read(self, following=None):
        """Fixes the span of the newest READ by where the request behind it starts, if that is known."""
        if self.open_read is None:
            return
        at, self.open_read = self.open_read, None
        spans = read_spans(self.packets[at].headers["RETH"]["len"])
        if following is not None:
            spans = [s for s in spans if at + s <= following] or spans[:1]
            self.spans[at] = spans[-1]
        else:
            self.spans[at] = spans[0]
        self.next = at + self.spans[at]

    def add(self, packet, problem):
        at = self.position(packet.psn)
        if at >= self.next:
            self.settle_open_read(at)
        elif self.transport == "UC":
            problem(packet, "UC request with PSN %#x behind the newest, %#x"
                    % (packet.psn, (self.base_psn + self.next - 1) % MODULUS))
        else:
            self.retransmissions += 1
        if at < 0:
            return  # a retransmission of something from before the capture
        self.packets[at] = packet
        if at >= self.next:
            self.next = at + 1
            if packet.operation == "READ":
                self.open_read = at
        self.growth.append((packet.index, self.next))

    def possible_next(self, packet_index):
        """The end of what was sent before that packet, with the longest span that an open READ may have."""
        spot = bisect.bisect_left(self.growth, (packet_index, 0)) - 1
        if spot < 0:
            return None
        end = self.growth[spot][1]
        last = self.packets.get(end - 1)
        if last is not None and last.operation == "READ":
            end += read_spans(last.headers["RETH"]["len"])[-1] - 1
        return end

    def began_by(self, packet_index):
        return self.growth[0][0] < packet_index if self.growth else False

    def check_structure(self, problem, allow_gaps):
        previous = None  # (position behind it, packet) of the packet before
        remaining = None
        for at in sorted(self.packets):
            packet = self.packets[at]
            if previous is not None and at > previous[0] and not allow_gaps:
                problem(packet, "PSNs %#x to %#x never sent" % ((self.base_psn + previous[0]) % MODULUS,
                                                               (packet.psn - 1) % MODULUS))
            if previous is None or at != previous[0]:
                remaining = None
            else:
                check_succession(previous[1], packet, problem)
            if packet.operation == "WRITE":
                if packet.position == "first":
                    remaining = packet.headers["RETH"]["len"]
                if packet.position != "only" and remaining is not None:
                    remaining -= len(packet.payload)
                    if packet.position == "last" and remaining != 0:
                        problem(packet, "WRITE ends %d bytes off its RETH length" % -remaining)
            previous = (at + self.spans.get(at, 1), packet)


def check_succession(before, packet, problem):
    inside = before.position in ("first", "middle")
    if inside and (packet.starts_message or packet.operation != before.operation):
        problem(packet, "%s follows %s: the message before it has no end" % (packet.name, before.name))
    elif not inside and not packet.starts_message:
        problem(packet, "%s follows %s: the message has no beginning" % (packet.name, before.name))
    elif inside and packet.position == "middle" and len(packet.payload) != len(before.payload):
        problem(packet, "path MTU changes inside a message")
    elif inside and len(packet.payload) > len(before.payload):
        problem(packet, "last packet longer than the path MTU")


class Flows:
    """All flows of a capture. `report(packet or None, text)` is called for every problem."""

    def __init__(self, report):
        self.report = report
        self.requests = {}    # (src, dst, dest QP) -> [Requests], one per connection
        self.responses = {}   # (src, dst, dest QP) -> [packet]

    def add(self, packet):
        key = (packet.src, packet.dst, packet.dest_qp)
        if packet.transport not in ("RC", "UC", "XRC") or not packet.operation:
            return
        if packet.is_response:
            self.responses.setdefault(key, []).append(packet)
            return
        connections = self.requests.setdefault(key, [])
        if not connections or (packet.starts_message and
                               abs(connections[-1].position(packet.psn) - connections[-1].next)
                               > NEW_CONNECTION_STEPS):
            connections.append(Requests(key, packet.transport, packet.psn))
        connections[-1].add(packet, self.report)

    def finish(self, allow_unacked=False, allow_gaps=False):
        for connections in self.requests.values():
            for requests in connections:
                requests.settle_open_read()
        pairs = self.pair()
        for key, connections in self.requests.items():
            answers = [p for r in pairs.get(key, ()) for p in self.responses[r]]
            for number, requests in enumerate(connections):
                end = connections[number + 1].growth[0][0] if number + 1 < len(connections) else None
                mine = [p for p in answers if requests.began_by(p.index) and (end is None or p.index < end)]
                if requests.transport != "UC":
                    check_answers(requests, mine, self.report, allow_unacked)
                requests.check_structure(self.report, allow_gaps)

    def pair(self):
        """Request key -> [response key]: the responses that answer it."""
        candidates = {}
        for key, packets in self.responses.items():
            src, dst, _ = key
            candidates[key] = {k for k in self.requests if k[:2] == (dst, src) and self.may_answer(k, packets)}
            if not candidates[key]:
                self.report(packets[0], "responses to QP %#x answer no requests in this capture" % key[2])
        pairs = {}
        while candidates:
            # The flow with the fewest choices first; among its choices the one that fewest others want.
            key = min(candidates, key=lambda k: (len(candidates[k]), k))
            choices = candidates.pop(key)
            if not choices:
                continue
            wanted = {c: sum(c in other for other in candidates.values()) for c in choices}
            chosen = min(choices, key=lambda c: (wanted[c], c))
            pairs.setdefault(chosen, []).append(key)
            # QP X at A talks to QP Y at B: the other direction is settled too, and nobody else may claim either.
            for other_key, other in candidates.items():
                if chosen in other and len(other) > 1:
                    other.discard(chosen)
            back_responses = chosen
            back_requests = key
            if back_requests in candidates.get(back_responses, ()):
                candidates[back_responses] = {back_requests}
        return pairs

    def may_answer(self, request_key, packets):
        connections = [r for r in self.requests[request_key] if r.transport != "UC"]
        for packet in packets:
            begun = [r for r in connections if r.began_by(packet.index)]
            if not begun:
                return False
            end = begun[-1].possible_next(packet.index)
            at = begun[-1].next + distance((begun[-1].base_psn + begun[-1].next) % MODULUS, packet.psn)
            if not -1 <= at < end + (packet.syndrome is not None and packet.syndrome[0] == "NAK"):
                return False
        return True


def check_answers(requests, answers, problem, allow_unacked):
    acked = -1              # everything up to here is acknowledged
    refused = None          # a NAK that ends the connection
    read_bytes = {}         # position -> payload bytes of the READ response there
    for packet in answers:
        at = requests.position(packet.psn)
        kind, value = packet.syndrome or ("ACK", 0)
        if kind == "ACK":
            acked = max(acked, at)
        else:
            acked = max(acked, at - 1)
            if kind == "NAK" and value in FATAL_NAKS:
                refused = at if refused is None else min(refused, at)
        if packet.operation == "READ_RESP":
            read_bytes[at] = len(packet.payload)
    for at in sorted(requests.packets):
        packet = requests.packets[at]
        if allow_unacked or (refused is not None and at >= refused):
            continue
        if packet.operation == "READ" and settle_last_read(requests, at, read_bytes):
            missing = [p for p in range(at, at + requests.spans[at]) if p not in read_bytes]
            if missing:
                problem(packet, "READ without %d of its %d responses" % (len(missing), requests.spans[at]))
                continue
            got = sum(read_bytes[p] for p in range(at, at + requests.spans[at]))
            if got != packet.headers["RETH"]["len"]:
                problem(packet, "READ of %d bytes was answered with %d" % (packet.headers["RETH"]["len"], got))
        elif at > acked:
            problem(packet, "%s to QP %#x, PSN %#x is never answered" % (packet.name, packet.dest_qp, packet.psn))


def settle_last_read(requests, at, read_bytes):
    """The READ that nothing follows: its span is the number of responses. True if `at` has a known span."""
    if at not in requests.spans:
        return False
    if at + requests.spans[at] == requests.next:
        count = 0
        while at + count in read_bytes:
            count += 1
        if count in read_spans(requests.packets[at].headers["RETH"]["len"]):
            requests.spans[at] = count
    return True
