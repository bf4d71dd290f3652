#include <fmt/format.h>

#include <algorithm>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/platform.hpp"

namespace simverbs::scenarios {

namespace {

/// Puts adapters into slots: first those that name theirs, then the others into what is free.
class AdapterPlacer {
  public:
    AdapterPlacer(LabReading& reading, const HostSpec& host, const Platform& platform)
        : reading_(reading), host_(host), platform_(platform), nic_of_(platform.slots.size(), kFree) {}

    /// The slot of each adapter; empty after a report.
    std::vector<size_t> place() {
        const size_t before = reading_.sink.reports();
        std::vector<size_t> slots(host_.nics.size(), 0);
        for (size_t n = 0; n < slots.size(); ++n)
            if (!host_.nics[n].slot.text.empty()) slots[n] = place_named(n);
        for (size_t n = 0; n < slots.size(); ++n)
            if (host_.nics[n].slot.text.empty()) slots[n] = place_anywhere(n);
        if (reading_.sink.reports() != before) return {};
        return slots;
    }

  private:
    static constexpr int kFree = -1;

    size_t place_named(size_t n) {
        const PlaceRef& wanted = host_.nics[n].slot;
        std::vector<std::string_view> names;
        std::string all;
        for (size_t i = 0; i < nic_of_.size(); ++i) {
            const std::string& name = platform_.slots[i].name;
            if (name != wanted.text) {
                names.push_back(name);
                all += (all.empty() ? "one of " : ", ") + name;
                continue;
            }
            if (nic_of_[i] != kFree)
                reading_.sink.add(
                    wanted.position, wanted.path,
                    fmt::format("the slot '{}' has {} in it", name, host_.nics[static_cast<size_t>(nic_of_[i])].device),
                    {}, free_slots());
            else
                nic_of_[i] = static_cast<int>(n);
            return i;
        }
        reading_.sink.add(
            wanted.position, wanted.path,
            fmt::format("the platform '{}' has no slot {}", platform_.inside.name, in_quotes(wanted.text)), all,
            did_you_mean(wanted.text, names));
        return 0;
    }

    size_t place_anywhere(size_t n) {
        const auto free = std::find(nic_of_.begin(), nic_of_.end(), kFree);
        if (free != nic_of_.end()) {
            *free = static_cast<int>(n);
            return static_cast<size_t>(free - nic_of_.begin());
        }
        reading_.sink.add(
            host_.nics[n].position, host_.nics[n].path,
            fmt::format("the platform '{}' has no free slot for {}", platform_.inside.name, host_.nics[n].device),
            fmt::format("at most {} NICs", platform_.slots.size()));
        return 0;
    }

    [[nodiscard]] std::string free_slots() const {
        std::string all;
        for (size_t i = 0; i < nic_of_.size(); ++i)
            if (nic_of_[i] == kFree) all += (all.empty() ? "free: " : ", ") + platform_.slots[i].name;
        return all;
    }

    LabReading& reading_;
    const HostSpec& host_;
    const Platform& platform_;
    std::vector<int> nic_of_;  ///< by slot
};

void refuse_slots(const LabReading& reading, const HostSpec& host) {
    for (const NicSpec& nic : host.nics)
        if (!nic.slot.text.empty())
            reading.sink.add(nic.slot.position, nic.slot.path, "the host has no platform, and so no slots", {},
                             "give the host a 'platform', or remove it");
}

/// Software has no end of a PCIe link.
bool check_adapters(const LabReading& reading, const HostSpec& host) {
    bool is_right = true;
    for (const NicSpec& nic : host.nics) {
        if (nic.pcie.lanes != 0) continue;
        is_right = false;
        reading.sink.add(nic.profile_position, child_path(nic.path, "profile"),
                         fmt::format("'{}' is software, which sits in no slot of a platform", nic.profile), {},
                         "choose a profile of hardware, or remove the host's 'platform'");
    }
    return is_right;
}

}  // namespace

void read_inside(LabReading& reading, HostSpec& host, const YamlValue* node, const std::string& path) {
    const YamlValue* const used = node != nullptr ? node : reading.platform_node;
    if (used == nullptr) return refuse_slots(reading, host);
    const std::string& used_path = node != nullptr ? path : reading.platform_path;
    const Platform* const platform = read_platform(reading, *used, used_path);
    std::vector<size_t> slots;
    if (platform != nullptr && check_adapters(reading, host)) slots = AdapterPlacer(reading, host, *platform).place();
    if (platform == nullptr || slots.size() != host.nics.size()) {
        reading.insides_are_complete = false;
        return;
    }
    HostInside inside{platform->inside, platform->driver, used->position, used_path};
    for (size_t n = 0; n < slots.size(); ++n) {
        host::NicSlotSpec slot;
        static_cast<host::DeviceSlotSpec&>(slot) = platform->slots[slots[n]];
        slot.device = host.nics[n].pcie;
        inside.spec.nics.push_back(std::move(slot));
    }
    host.inside = std::make_shared<const HostInside>(std::move(inside));
}

}  // namespace simverbs::scenarios
