// How busy the PCIe links of hosts with a platform are.
#include <algorithm>
#include <array>
#include <span>

#include "scenarios/expect/metric_rules.hpp"

namespace simverbs::scenarios::expect {

namespace {

/// The directions of a link; null before they were measured.
struct Directions {
    const run::InsidePart* up = nullptr;
    const run::InsidePart* down = nullptr;
};

Directions directions_of(const run::RunResult& result, uint32_t link) {
    const run::PcieLinkRecord& record = result.pcie_links[link];
    const run::HostInsideRecord& inside = result.insides[record.inside];
    const run::InsideDevice& device = inside.devices[record.device];
    if (device.up >= inside.parts.size() || device.down >= inside.parts.size()) return {};
    return {&inside.parts[device.up], &inside.parts[device.down]};
}

template <typename Read>
void collect_links(const Question& question, Measurement& out, Read read) {
    const Selection selected = question.index.pcie_links(question.expression.selector);
    out.problem = selected.problem;
    out.owners = OwnerKind::PcieLink;
    for (const uint32_t link : selected.numbers) {
        const Directions ways = directions_of(question.result(), link);
        if (ways.up != nullptr) out.values.push_back({read(ways), link});
    }
}

/// Of the busier way.
void collect_utilisation_of_pcie(const Question& question, Measurement& out) {
    collect_links(question, out, [&](const Directions& ways) {
        const sim::SimTime length = question.span.length();
        if (length <= sim::SimTime::zero()) return 0.0;
        const auto share = [&](const run::InsidePart& part) {
            const sim::SimTime busy =
                question.span.is_whole ? part.busy : part.busy_between(question.span.from, question.span.until);
            return static_cast<double>(busy.in_ps()) / static_cast<double>(length.in_ps());
        };
        return std::min(std::max(share(*ways.up), share(*ways.down)), 1.0);
    });
}

template <auto Member>
void collect_total_of_pcie(const Question& question, Measurement& out) {
    if (!question.span.is_whole) {
        out.problem = "it is known only of the whole run";
        return;
    }
    collect_links(question, out,
                  [](const Directions& ways) { return static_cast<double>(ways.up->*Member + ways.down->*Member); });
}

constexpr std::array kPcieRules{
    MetricRule{"pcie.utilisation", SampleNeed::Nothing, false, collect_utilisation_of_pcie},
    MetricRule{"pcie.bytes", SampleNeed::Nothing, false, collect_total_of_pcie<&run::InsidePart::bytes>},
    MetricRule{"pcie.tlps", SampleNeed::Nothing, false, collect_total_of_pcie<&run::InsidePart::tlps>},
};

}  // namespace

std::span<const MetricRule> pcie_rules() noexcept {
    return kPcieRules;
}

}  // namespace simverbs::scenarios::expect
