// A fault of a host's slot.
#include <fmt/format.h>

#include <bit>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/scenario_reading.hpp"

namespace simverbs::scenarios {

namespace {

constexpr std::string_view kExpectedSlot = "HOST/SLOT, such as 'h0/nic0'";

/// The inside of the host of that name; nullptr if it has none, or there is no such host.
const HostInside* inside_of(const LabReading& network, std::string_view name) {
    if (network.topology.is_fabric) return network.topology.host.inside.get();
    const int index = network.lab.find_host(name);
    return index < 0 ? nullptr : network.lab.hosts[static_cast<size_t>(index)].inside.get();
}

/// Reports a slot that the host does not have, and a link that is none.
class SlotCheck {
  public:
    SlotCheck(ScenarioReading& reading, const Section& inner) : reading_(reading), inner_(inner) {}

    void check(const PlaceRef& place, AddressedFaultSpec& fault) {
        const size_t slash = place.text.rfind('/');
        if (slash == std::string::npos || slash == 0 || slash + 1 == place.text.size())
            return wrong(place, in_quotes(place.text) + " is not a slot", std::string(kExpectedSlot));
        const PlaceRef host{place.text.substr(0, slash), place.path, place.position};
        if (host.text.find_first_of("./") != std::string::npos || !check_place(reading_.network, host)) {
            if (host.text.find_first_of("./") != std::string::npos)
                wrong(place, in_quotes(place.text) + " is not a slot", std::string(kExpectedSlot));
            return;
        }
        const HostInside* const inside = inside_of(reading_.network, host.text);
        if (inside == nullptr) {
            if (reading_.network.insides_are_complete)
                wrong(place, fmt::format("the host '{}' has no platform", host.text),
                      "a host with a 'platform', whose slots these are");
            return;
        }
        check_slot(*inside, place, place.text.substr(slash + 1), fault);
    }

  private:
    void wrong(const PlaceRef& place, std::string problem, std::string expected, std::string hint = {}) {
        reading_.sink.add(place.position, place.path, std::move(problem), std::move(expected), std::move(hint));
    }

    void check_slot(const HostInside& inside, const PlaceRef& place, const std::string& name,
                    AddressedFaultSpec& fault) {
        std::vector<std::string_view> names;
        std::string all;
        const auto see = [&](const host::DeviceSlotSpec& slot) {
            names.push_back(slot.name);
            all += (all.empty() ? "one of " : ", ") + slot.name;
            if (slot.name != name) return false;
            check_link(slot, fault);
            return true;
        };
        for (const host::NicSlotSpec& nic : inside.spec.nics)
            if (see(nic)) return;
        for (const host::GpuSpec& gpu : inside.spec.gpus)
            if (see(gpu)) return;
        wrong(place,
              fmt::format("no adapter and no GPU sits in a slot {} of '{}'", in_quotes(name),
                          place.text.substr(0, place.text.rfind('/'))),
              all, did_you_mean(name, names));
    }

    /// Fewer lanes or a lower generation than the link has.
    void check_link(const host::DeviceSlotSpec& slot, const AddressedFaultSpec& fault) {
        const int generation = std::min(slot.slot.generation, slot.device.generation);
        const int lanes = std::min(slot.slot.lanes, slot.device.lanes);
        const bool is_less = fault.generation.value_or(generation) < generation || fault.lanes.value_or(lanes) < lanes;
        if (is_less || (!fault.generation && !fault.lanes)) return;
        reading_.sink.add(inner_.position(), inner_.path(),
                          fmt::format("the link in '{}' is no better than that", slot.name),
                          fmt::format("less than gen {} or than {} lanes", generation, lanes));
    }

    ScenarioReading& reading_;
    const Section& inner_;
};

}  // namespace

void read_degraded_slot(ScenarioReading& reading, const Section& inner, AddressedFaultSpec& fault) {
    fault.from = inner.time("from");
    if (inner.has("until")) {
        fault.until = inner.time("until");
        if (fault.until <= fault.from)
            reading.sink.add(inner.position("until"), inner.path("until"), "ends before it begins",
                             "a time after 'from'");
    }
    if (inner.has("gen")) fault.generation = static_cast<int>(inner.integer("gen"));
    if (inner.has("width")) {
        fault.lanes = static_cast<int>(inner.integer("width"));
        if (!std::has_single_bit(static_cast<unsigned>(*fault.lanes)))
            reading.sink.add(inner.position("width"), inner.path("width"),
                             fmt::format("no slot has {} lanes", *fault.lanes), "1, 2, 4, 8 or 16");
    }
    if (!inner.writes("gen") && !inner.writes("width"))
        reading.sink.add(inner.position(), inner.path(), "says not what is worse", "'gen', 'width' or both");
    if (!inner.has("slot")) return;
    fault.victim = PlaceRef{inner.text("slot"), inner.path("slot"), inner.position("slot")};
    SlotCheck(reading, inner).check(*fault.victim, fault);
}

}  // namespace simverbs::scenarios
