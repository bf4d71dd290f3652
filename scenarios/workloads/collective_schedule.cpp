#include "scenarios/workloads/collective_schedule.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace simverbs::scenarios::workloads {

sim::ByteCount part_of(sim::ByteCount bytes, uint32_t parts, uint32_t index) {
    return bytes / parts + (static_cast<sim::ByteCount>(index) < bytes % parts ? 1 : 0);
}

uint32_t ScheduleBuilder::add_pieces(sim::ByteCount bytes, uint32_t count) {
    const auto first = static_cast<uint32_t>(schedule_.piece_bytes.size());
    for (uint32_t i = 0; i < count; ++i) schedule_.piece_bytes.push_back(part_of(bytes, count, i));
    return first;
}

TransferIndex ScheduleBuilder::send(uint32_t lane, Rank from, Rank to, uint32_t first_piece, uint32_t pieces,
                                    TransferKind kind, std::span<const TransferIndex> after) {
    const auto index = static_cast<TransferIndex>(schedule_.transfers.size());
    sim::ByteCount bytes = 0;
    for (uint32_t i = 0; i < pieces; ++i) bytes += schedule_.piece_bytes[first_piece + i];
    schedule_.transfers.push_back({from, to, bytes, first_piece, pieces, kind});
    for (const TransferIndex before : after) {
        const Transfer& earlier = schedule_.transfers[before];
        SIM_CHECK(earlier.to == from || earlier.from == from, before, index);
        schedule_.dependencies.push_back({before, index});
    }
    std::vector<TransferIndex>& sent = connections_[{lane, from, to}];
    if (sent.size() >= slots_) {
        const TransferIndex before = sent[sent.size() - slots_];
        if (std::find(after.begin(), after.end(), before) == after.end()) {
            schedule_.dependencies.push_back({before, index});
        }
    }
    sent.push_back(index);
    return index;
}

CollectiveSchedule ScheduleBuilder::finish() && {
    schedule_.first_sends.resize(ranks_);
    schedule_.last_receives.resize(ranks_);
    const std::vector<Transfer>& transfers = schedule_.transfers;
    std::vector<bool> waits_for_a_send(transfers.size());
    std::vector<bool> has_a_later_receive(transfers.size());
    for (const flow::FlowDependency& dependency : schedule_.dependencies) {
        const Transfer& before = transfers[dependency.before];
        const Transfer& after = transfers[dependency.after];
        if (before.from != after.from) continue;
        waits_for_a_send[dependency.after] = true;
        // `after` starts when `before` has been acknowledged; if it goes to the same rank, it arrives there later.
        if (before.to == after.to) has_a_later_receive[dependency.before] = true;
    }
    for (TransferIndex i = 0; i < transfers.size(); ++i) {
        if (!waits_for_a_send[i]) schedule_.first_sends[transfers[i].from].push_back(i);
        if (!has_a_later_receive[i]) schedule_.last_receives[transfers[i].to].push_back(i);
    }
    return std::move(schedule_);
}

}  // namespace simverbs::scenarios::workloads
