#include "tests/conformance/verbs/model/driver.hpp"

#include <algorithm>
#include <cstring>

namespace simverbs::test::model {

namespace {

/// Which packets get lost, in each direction: rare enough for seven retries.
Losses choose_losses(Dice& dice) {
    Losses losses;
    losses.any = dice.once_in(3);
    if (!losses.any) return losses;
    for (auto& ordinals : losses.to_host) {
        uint64_t at = 0;
        const uint32_t gap = 3 + dice.below(6);
        for (uint32_t i = 0; i < 64; ++i) ordinals.insert(at += gap + (i * 7 + gap) % 5);
    }
    return losses;
}

std::vector<link::LinkFault> faults_of(const std::set<uint64_t>& ordinals) {
    std::vector<link::LinkFault> faults;
    for (const uint64_t nth : ordinals) {
        link::LinkFault f;
        f.nth = nth;
        faults.push_back(f);
    }
    return faults;
}

RigOptions options_of(const Losses& losses) {
    RigOptions o;
    o.faults_out = faults_of(losses.to_host[1]);
    o.faults_in = faults_of(losses.to_host[0]);
    return o;
}

const char* side(size_t host) {
    return host == 0 ? "A" : "B";
}

std::string text_of(uint64_t wr_id, const char* status) {
    return std::to_string(wr_id) + ":" + status;
}

}  // namespace

Driver::Driver(QpType type, uint64_t first)
    : type_(type),
      losses_([&] {
          Dice dice(first);
          return choose_losses(dice);
      }()),
      rig_(options_of(losses_)),
      reference_(type, losses_) {
    Dice dice(first / 3 / 36);
    static constexpr std::array<uint32_t, 4> kMoods{24, 200, 60, 6};
    wrong_once_in_ = dice.of(kMoods);
    for (size_t host : {0, 1}) make_host(host, dice);
    recover();
}

bool Driver::step(uint64_t number) {
    enum class Kind : uint8_t { Settle, Send, Receive, Poll, Next, Anyhow, Recover, Region, Window, Arm, Remake, Used };
    using enum Kind;
    static constexpr std::array kKinds{
        Settle, Send,    Receive, Send,   Receive, Send,   Poll,    Send, Receive, Send,    Receive,
        Send,   Recover, Send,    Region, Send,    Window, Send,    Arm,  Send,    Receive, Next,
        Send,   Receive, Recover, Poll,   Send,    Anyhow, Receive, Send, Receive, Settle,  Send,
        Region, Send,    Window,  Remake, Send,    Used,   Receive, Send, Recover, Anyhow,  Next,
    };
    if (diverged()) return false;
    Dice dice(number);
    const Kind kind = dice.of(kKinds);
    const size_t host = dice.below(2);
    // A bind may be done although a request before it fails later: no reason for that may come up now.
    if (local_pending_ && kind != Send && kind != Receive) settle();
    const auto is_up = [&](size_t h) { return reference_.hosts[h].qp.state == QpState::Rts; };
    if ((kind == Send || kind == Receive) && !(is_up(0) && is_up(1)) && dice.below(2) == 0) recover();
    switch (kind) {
        case Settle:
            tell("time passes");
            settle();
            break;
        case Send:
            post_send(host, dice);
            break;
        case Receive:
            post_receive(host, dice);
            break;
        case Poll:
            poll(host, dice);
            break;
        case Next:
            next_state(host, dice);
            break;
        case Anyhow:
            modify_anyhow(host, dice);
            break;
        case Recover:
            recover();
            break;
        case Region:
            change_region(host, dice);
            break;
        case Window:
            change_window(host, dice);
            break;
        case Arm:
            arm(host, dice);
            break;
        case Remake:
            destroy_qp(host);
            create_qp(host);
            break;
        case Used:
            destroy_what_is_used(host, dice);
            break;
    }
    return !diverged();
}

bool Driver::finish() {
    if (!diverged()) settle();
    return !diverged();
}

void Driver::settle() {
    reference_.settle();
    local_pending_ = reads_pending_ = false;
    for (const Host& h : reference_.hosts)
        for (const model::Send& send : h.qp.sends) reads_pending_ = reads_pending_ || fills_sges(send.wr.opcode);
    while (rig_.engine().run_window(now() + sim::SimTime::s(1))) {
    }
    for (size_t host : {0, 1}) compare(host);
}

void Driver::compare(size_t host) {
    Host& h = reference_.hosts[host];
    Real& r = real_[host];
    compare_completions(host);
    std::string expected, got;
    for (const Event& e : h.events) expected += " " + std::to_string(static_cast<int>(e.type));
    for (; r.seen_events < r.sink->events.size(); ++r.seen_events) {
        const AsyncEvent& e = r.sink->events[r.seen_events];
        got += " " + std::to_string(static_cast<int>(e.type));
        const uint32_t object = e.type == EventType::CqErr ? h.cq : h.qp.qpn;
        if (e.object != object) diverge(std::string("an event names another object at ") + side(host));
    }
    h.events.clear();
    if (expected != got) diverge(std::string("events at ") + side(host) + ": expected" + expected + ", got" + got);
    expect(std::string("channel events at ") + side(host), h.channel_events,
           static_cast<int64_t>(r.sink->cq_events.size() - r.seen_channel));
    h.channel_events = 0;
    r.seen_channel = r.sink->cq_events.size();
    const auto query = r.hca->query_qp(by(host), h.qp.qpn);
    if (h.qp.alive && query.ok() && query.value.attr.qp_state != h.qp.state)
        diverge(std::string("state of ") + side(host) + ": expected " + name_of(h.qp.state) + ", got " +
                name_of(query.value.attr.qp_state));
    expect(std::string("ibv_query_qp at ") + side(host), h.qp.alive ? 0 : ENOENT, query.error);
    const host::AddressSpaceId space = static_cast<host::AddressSpaceId>(host + 1);
    rig_.fabric().mover()->before_turn(space, sim::SimTime::max());
    std::vector<uint8_t>& bytes = rig_.memory.spaces[space];
    for (size_t i = 0; i < kBytes && std::memcmp(&bytes[i], &h.memory[i], kBytes - i) != 0; ++i) {
        if (bytes[i] == h.memory[i]) continue;
        if (h.unknown[i] == 0) {
            diverge(std::string("memory of ") + side(host) + " at " + std::to_string(i) + ": expected " +
                    std::to_string(h.memory[i]) + ", got " + std::to_string(bytes[i]));
            break;
        }
        h.memory[i] = bytes[i];
    }
    std::ranges::fill(h.unknown, 0);
}

void Driver::compare_completions(size_t host) {
    Host& h = reference_.hosts[host];
    Real& r = real_[host];
    std::string expected, got;
    const size_t first = r.seen_cqes;
    for (const Completion& c : h.completions) expected += " " + text_of(c.wr_id, name_of(c.status));
    for (size_t i = first; i < r.sink->cqes.size(); ++i)
        got += " " + text_of(r.sink->cqes[i].cqe.wr_id, name_of(r.sink->cqes[i].cqe.status));
    r.seen_cqes = r.sink->cqes.size();
    const std::string what = std::string("completions at ") + side(host) + ": expected" + expected + ", got" + got;
    if (!got.empty()) tell(std::string(side(host)) + " has completions" + got);
    if (h.completions.size() != r.seen_cqes - first) return diverge(what);
    for (size_t i = 0; i < h.completions.size(); ++i) {
        const Completion& c = h.completions[i];
        const Cqe& cqe = r.sink->cqes[first + i].cqe;
        if (c.wr_id != cqe.wr_id || (c.status != cqe.status && c.or_else != cqe.status)) return diverge(what);
        tally_.count(cqe.status);
        if (cqe.qp_num != h.qp.qpn) diverge("qp_num of " + std::to_string(c.wr_id));
        if (c.status != WcStatus::Success) continue;
        if (c.opcode != cqe.opcode) diverge("opcode of " + std::to_string(c.wr_id));
        if (c.byte_len) expect("byte_len of " + std::to_string(c.wr_id), *c.byte_len, cqe.byte_len);
        if (c.is_send) continue;
        expect("wc_flags of " + std::to_string(c.wr_id), c.wc_flags, cqe.wc_flags);
        expect("imm_data of " + std::to_string(c.wr_id), c.imm_or_rkey, cqe.imm_or_rkey);
        if (type_ == QpType::Ud) expect("src_qp", reference_.hosts[1 - host].qp.qpn, cqe.src_qp);
    }
    h.completions.clear();
}

void Driver::expect(const std::string& call, int64_t expected, int64_t got) {
    if (expected != got) diverge(call + ": expected " + std::to_string(expected) + ", got " + std::to_string(got));
}

void Driver::expect_unused_key(uint32_t key) {
    for (const Host& h : reference_.hosts) {
        const bool used =
            std::ranges::any_of(h.regions,
                                [&](const Region& x) { return x.alive && (x.lkey == key || x.rkey == key); }) ||
            std::ranges::any_of(h.windows, [&](const Window& w) { return w.alive && w.rkey == key; });
        // Adapters number on their own: two may give the same key.
        if (used && &h == &reference_.hosts[0] && real_[0].hca == real_[1].hca) diverge("a key was given twice");
    }
}

void Driver::diverge(const std::string& what) {
    if (divergence_.empty()) divergence_ = what;
}

void Driver::tell(std::string line) {
    lines_.push_back(std::move(line));
}

std::string Tally::text() const {
    std::string out;
    for (size_t i = 0; i < counts_.size(); ++i)
        if (counts_[i] != 0)
            out += std::string(" ") + name_of(static_cast<WcStatus>(i)) + " " + std::to_string(counts_[i]);
    return out;
}

std::string Driver::story() const {
    std::string out = losses_.any ? "some packets get lost\n" : "";
    for (size_t i = 0; i < lines_.size(); ++i) out += std::to_string(i + 1) + ". " + lines_[i] + "\n";
    return out + "apart: " + divergence_ + "\n";
}

}  // namespace simverbs::test::model
