#include "verbs_shim/server/stats_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace simverbs::server {

using protocol::Stat;

namespace {

struct Row {
    const char* label;
    Stat stat;
};

constexpr Row kRows[] = {
    {"control path: requests (system calls)", Stat::ControlRequests},
    {"  ibv_reg_mr", Stat::RegMr},
    {"  pages pinned", Stat::PinnedPages},
    {"system calls on the data path", Stat::DataPathSyscalls},
    {"  ibv_post_send calls", Stat::PostSend},
    {"  ibv_post_send work requests", Stat::PostSendWr},
    {"  ibv_post_recv calls", Stat::PostRecv},
    {"  ibv_post_recv work requests", Stat::PostRecvWr},
    {"  ibv_post_srq_recv calls", Stat::PostSrqRecv},
    {"  doorbells", Stat::DoorbellsRung},
    {"  ibv_poll_cq calls", Stat::PollCq},
    {"  ibv_poll_cq calls that found nothing", Stat::PollCqEmpty},
    {"  completions taken", Stat::PollCqWc},
    {"  ibv_req_notify_cq calls", Stat::ReqNotifyCq},
    {"socket calls (out-of-band exchange)", Stat::SocketCalls},
    {"clock reads", Stat::ClockReads},
    {"  by rdtsc (traps)", Stat::RdtscTraps},
    {"simulator: memory-spin traps", Stat::MemorySpinTraps},
    {"simulator: turns given up", Stat::Yields},
    {"simulator: waits", Stat::Waits},
};

using Totals = std::map<uint32_t, Lab::EndedStats>;

Totals totals_of(Lab& lab) {
    Totals totals = lab.ended_stats();
    const auto& page = lab.shared();
    for (uint32_t i = 0; i < lab.roster().num_processes; ++i) {
        const protocol::ProcessEntry& entry = page.processes[i];
        const Roster::Process& kept = lab.roster().processes[i];
        if (!kept.used) continue;
        Lab::EndedStats& t = totals[kept.program];
        for (size_t s = 0; s < std::size(t.stats); ++s) t.stats[s] += entry.stats[s];
    }
    for (const auto& [process, client] : lab.clients()) {
        const LiveMemory::Counts c = lab.memory().counts(client->space);
        LiveMemory::Counts& t = totals[client->program].copies;
        t.reads += c.reads;
        t.read_bytes += c.read_bytes;
        t.writes += c.writes;
        t.written_bytes += c.written_bytes;
    }
    return totals;
}

}  // namespace

std::string stats_table(Lab& lab, const std::vector<std::string>& names) {
    Totals totals = totals_of(lab);
    std::vector<size_t> widths;
    std::string out = fmt::format("{:<42}", "statistics");
    for (const std::string& name : names) {
        widths.push_back(std::max<size_t>(name.size(), 14) + 2);
        out += fmt::format("{:>{}}", name, widths.back());
    }
    out += '\n';
    const auto line = [&](const char* label, auto&& value) {
        out += fmt::format("{:<42}", label);
        for (uint32_t i = 0; i < names.size(); ++i) out += fmt::format("{:>{}}", value(totals[i]), widths[i]);
        out += '\n';
    };
    for (const Row& row : kRows)
        line(row.label, [&](const Lab::EndedStats& t) { return t.stats[static_cast<size_t>(row.stat)]; });
    line("payload: DMA reads of its memory", [](const Lab::EndedStats& t) { return t.copies.reads; });
    line("payload: bytes read by DMA", [](const Lab::EndedStats& t) { return t.copies.read_bytes; });
    line("payload: DMA writes to its memory", [](const Lab::EndedStats& t) { return t.copies.writes; });
    line("payload: bytes written by DMA", [](const Lab::EndedStats& t) { return t.copies.written_bytes; });
    return out;
}

}  // namespace simverbs::server
