// Who waits for what when nothing can happen any more.
#include <fmt/format.h>

#include <sstream>

#include "verbs_shim/server/arbiter.hpp"

namespace simverbs::server {

using protocol::Turn;
using protocol::Yield;

namespace {

std::string wait_text(const protocol::ThreadSlot& slot, Turn turn) {
    if (turn == Turn::Lost) return "asleep in something that the lab does not know";
    if (turn == Turn::Reserved) return "has not come yet";
    if (static_cast<Yield>(slot.yield) != Yield::Wait) return "runnable";
    std::string what(slot.wait.what, strnlen(slot.wait.what, sizeof slot.wait.what));
    if ((slot.wait.flags & protocol::kWaitMemory) != 0) what += " (spinning on memory)";
    if ((slot.wait.flags & protocol::kWaitVisible) != 0) what += ", for a completion or remote write";
    return what;
}

std::string us_text(int64_t ps) {
    return fmt::format("{:.3f} us", static_cast<double>(ps) * 1e-6);
}

/// CQs that hold completions for which no event will come: the program armed them too late and did not poll again.
std::string missed_completions(Lab& lab) {
    std::string out;
    for (const auto& [process, client] : lab.clients()) {
        for (const auto& [handle, cq] : client->cqs) {
            const ContextObject* context = client->contexts.find(cq.context);
            const uint32_t waiting = cq.produced - cq.ring.header->consumed.load(std::memory_order_acquire);
            if (context == nullptr || cq.channel == 0 || waiting == 0 || waiting > cq.ring.capacity) continue;
            const hca::Hca::CqArming arming = context->hca->cq_arming(cq.cq);
            if (!arming.is_armed || arming.last_visible > arming.armed_at) continue;
            out += fmt::format(
                "  {}: {}: CQ {} was armed at {}, after its last completion had come at {}: no event tells of the {} "
                "that "
                "{} in it. Poll once more after ibv_req_notify_cq\n",
                lab.hosts()[client->host].name, client->command, handle, us_text(arming.armed_at.in_ps()),
                us_text(arming.last_visible.in_ps()), waiting, waiting == 1 ? "waits" : "wait");
        }
    }
    return out;
}

}  // namespace

std::string Arbiter::waiting_report() const {
    std::string out;
    const uint32_t slots = lab_->roster().num_slots;
    for (uint32_t i = 0; i < slots; ++i) {
        const Turn turn = turn_of(i);
        if (turn == Turn::Free || turn == Turn::Gone) continue;
        const protocol::ThreadSlot& slot = shared_->slots[i];
        const Roster::Process& entry = entry_of(i);
        const Client* client = lab_->client_of_process(process_of(i));
        out += fmt::format("  {}: {} (pid {}, thread {}) at {:.3f} us: waits: {}\n", lab_->hosts()[entry.host].name,
                           client != nullptr ? client->command : "program", entry.pid, slot.tid,
                           static_cast<double>(slot.clock_ps) * 1e-6,
                           lab_->frozen_until(process_of(i)) > sim::SimTime::ps(slot.clock_ps)
                               ? "frozen by a fault of the scenario"
                               : wait_text(slot, turn));
    }
    out += missed_completions(*lab_);
    for (const Host& host : lab_->hosts()) {
        for (const Nic& nic : host.nics) {
            for (const std::string& line : nic.hca->outstanding_work()) out += "  " + line + "\n";
            for (const std::string& line : nic.hca->waiting_receives()) out += "  " + line + "\n";
        }
    }
    // Its first line tells the time, which the programs' lines have told, and others what has just been said.
    std::istringstream models(lab_->engine().stuck_dump());
    std::string line;
    std::getline(models, line);
    while (std::getline(models, line))
        if (out.find(line) == std::string::npos) out += "  " + line + "\n";
    return out;
}

}  // namespace simverbs::server
