// Writes garbage into what the other threads of its lab have said as they gave up their turn, each time that it has its
// own: clocks, reasons, waits. The turn words alone it leaves as they are. With the argument `idle` it only looks.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/protocol/shared_layout.hpp"

namespace {

using namespace simverbs::protocol;

LabShared* find_lab_page() {
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[512];
    LabShared* page = nullptr;
    while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
        if (std::strstr(line, "simverbs-lab") == nullptr || page != nullptr) continue;
        page = reinterpret_cast<LabShared*>(std::strtoull(line, nullptr, 16));
    }
    if (maps != nullptr) std::fclose(maps);
    return page != nullptr && page->magic == kMagic ? page : nullptr;
}

uint64_t draw() {
    static uint64_t state = 12345;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return state >> 16;
}

int64_t nasty_clock() {
    static constexpr int64_t kClocks[] = {INT64_MIN, -1, 0, INT64_MAX, INT64_MAX - 1, int64_t{1} << 62};
    const uint64_t n = draw() % 8;
    return n < 6 ? kClocks[n] : static_cast<int64_t>(draw());
}

void scribble(ThreadSlot& slot) {
    slot.clock_ps = nasty_clock();
    slot.horizon_ps = nasty_clock();
    slot.oldest_post_ps = nasty_clock();
    slot.yield = static_cast<uint32_t>(draw());
    slot.wait.deadline_ps = nasty_clock();
    slot.wait.num_items = static_cast<uint32_t>(draw());
    slot.wait.flags = static_cast<uint32_t>(draw());
    for (WaitItem& item : slot.wait.items) item = {static_cast<WaitKind>(draw() % 5), 0, draw(), draw(), nasty_clock()};
    slot.grant = static_cast<uint32_t>(draw());
    slot.process = static_cast<uint32_t>(draw());
}

}  // namespace

int main(int argc, char** argv) {
    constexpr int kRounds = 400;
    LabShared* const page = find_lab_page();
    if (page == nullptr) return 3;
    const bool idle = argc > 1 && std::strcmp(argv[1], "idle") == 0;
    uint64_t written = 0;
    for (int round = 0; round < kRounds; ++round) {
        for (uint32_t i = 0; i < page->num_slots.load() && i < kMaxThreads; ++i) {
            ThreadSlot& slot = page->slots[i];
            if (slot.turn.load() != static_cast<uint32_t>(Turn::Waiting)) continue;
            ++written;
            if (!idle) scribble(slot);
        }
        usleep(3);
    }
    std::printf("scribbled: %s\n", written > kRounds ? "yes" : "no");
    return 0;
}
