#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/lab_schemas.hpp"

namespace simverbs::scenarios {

namespace {

constexpr sim::ByteCount kDefaultEthernetMtu = 4200;
constexpr sim::ByteCount kDefaultInfiniBandMtu = 4096;
/// The smallest RoCE path MTU, 256 B, and its headers: linux/drivers/infiniband/core, iboe_get_mtu subtracts 80.
constexpr sim::ByteCount kLeastEthernetMtu = 336;
constexpr std::array<sim::ByteCount, 5> kInfiniBandMtus{256, 512, 1024, 2048, 4096};

constexpr int kMostPriority = 7;
constexpr std::array<std::string_view, 6> kEthernetOnly{"vlan", "priority", "dscp_map", "ipv6", "roce_versions", "mac"};

const KnownProfile* find_profile(const LabOptions& options, std::string_view name) {
    for (const KnownProfile& profile : options.profiles) {
        if (profile.name == name) return &profile;
    }
    return nullptr;
}

void check_profile(const LabReading& reading, const Section& section, const NicSpec& nic) {
    if (reading.options.profiles.empty() || find_profile(reading.options, nic.profile) != nullptr) return;
    std::vector<std::string_view> names;
    std::string all;
    for (const KnownProfile& profile : reading.options.profiles) {
        names.push_back(profile.name);
        all += (all.empty() ? "" : ", ") + profile.name;
    }
    reading.sink.add(section.position("profile"), section.path("profile"), in_quotes(nic.profile) + " is not a profile",
                     "one of " + all, did_you_mean(nic.profile, names));
}

void read_mtu(const LabReading& reading, const Section& section, NicSpec& nic) {
    const bool ethernet = nic.link_layer == LinkLayer::Ethernet;
    if (!section.has("mtu")) {
        nic.mtu = ethernet ? kDefaultEthernetMtu : kDefaultInfiniBandMtu;
        return;
    }
    nic.mtu = section.size("mtu");
    if (ethernet && nic.mtu < kLeastEthernetMtu) {
        reading.sink.add(section.position("mtu"), section.path("mtu"),
                         fmt::format("an Ethernet MTU of {} B is too small for RoCE", nic.mtu),
                         fmt::format("at least {} B", kLeastEthernetMtu));
    }
    const bool standard = std::find(kInfiniBandMtus.begin(), kInfiniBandMtus.end(), nic.mtu) != kInfiniBandMtus.end();
    if (!ethernet && !standard) {
        reading.sink.add(section.position("mtu"), section.path("mtu"),
                         fmt::format("InfiniBand has no MTU of {} B", nic.mtu),
                         "256 B, 512 B, 1024 B, 2048 B or 4096 B");
    }
}

void check_link_layer(const LabReading& reading, const Section& section, const NicSpec& nic) {
    if (nic.link_layer == LinkLayer::Ethernet) {
        if (section.has("lid")) {
            reading.sink.add(section.position("lid"), section.path("lid"), "a port on Ethernet has no LID", {},
                             "remove it, or set 'link_layer: InfiniBand'");
        }
        return;
    }
    for (const std::string_view key : kEthernetOnly) {
        if (!section.has(key)) continue;
        reading.sink.add(section.position(key), section.path(key),
                         fmt::format("'{}' has no meaning on InfiniBand", key), {},
                         "remove it, or set 'link_layer: Ethernet'");
    }
}

void read_identity(const LabReading& reading, const Section& section, NicSpec& nic) {
    if (section.has("address")) {
        nic.address = static_cast<uint32_t>(section.integer("address"));
        const uint32_t first_byte = *nic.address >> 24;
        if (first_byte == 0 || first_byte == 127 || first_byte >= 224) {
            reading.sink.add(section.position("address"), section.path("address"),
                             "this IPv4 address cannot be a host's", "a unicast address outside 0/8 and 127/8");
        }
    }
    if (section.has("mac")) nic.mac = static_cast<uint64_t>(section.integer("mac"));
    if (section.has("guid")) nic.guid = static_cast<uint64_t>(section.integer("guid"));
    if (section.has("lid")) nic.lid = static_cast<uint16_t>(section.integer("lid"));
    if (section.has("gid")) nic.gid = section.gid("gid");
}

void read_parameters(const Section& section, NicSpec& nic, DiagnosticSink& sink) {
    const YamlValue* node = section.node("parameters");
    if (node == nullptr) return;
    const std::string path = section.path("parameters");
    if (node->kind != YamlKind::Map) {
        report_wrong_shape(*node, path, expected_value(*kNicSchema.find("parameters")), sink);
        return;
    }
    for (const YamlEntry& entry : node->entries) {
        const std::string parameter_path = child_path(path, entry.key);
        if (entry.value->kind != YamlKind::Scalar) {
            report_wrong_shape(*entry.value, parameter_path, "a single value", sink);
            continue;
        }
        nic.parameters.insert_or_assign(
            entry.key, ParameterOverride{entry.value->text, parameter_path, entry.key_position, entry.value->position});
    }
}

void read_roce_versions(const Section& section, NicSpec& nic) {
    if (nic.link_layer == LinkLayer::InfiniBand) return;
    nic.roce_versions = {RoceVersion::V1, RoceVersion::V2};
    if (!section.has("roce_versions")) return;
    nic.roce_versions.clear();
    for (const std::string& version : section.choices("roce_versions")) {
        nic.roce_versions.push_back(version == "v1" ? RoceVersion::V1 : RoceVersion::V2);
    }
}

NicSpec read_nic(const LabReading& reading, const NamedPart& part, std::size_t index) {
    const Section section(kNicSchema, *part.node, part.path, reading.sink, reading.nic_template);
    NicSpec nic;
    nic.profile = section.has("profile") ? section.text("profile") : reading.options.default_profile;
    check_profile(reading, section, nic);
    const KnownProfile* profile = find_profile(reading.options, nic.profile);
    if (section.has("link_layer")) {
        nic.link_layer = section.text("link_layer") == "Ethernet" ? LinkLayer::Ethernet : LinkLayer::InfiniBand;
    } else if (profile != nullptr) {
        nic.link_layer = profile->link_layer;
    }
    const std::string prefix = profile != nullptr ? profile->device_prefix : KnownProfile{}.device_prefix;
    nic.device = !part.name.empty() ? part.name : prefix + std::to_string(index);
    if (section.has("slot")) nic.slot = {section.text("slot"), section.path("slot"), section.position("slot")};
    if (profile != nullptr) nic.pcie = profile->pcie;
    nic.ports = static_cast<int>(section.integer("ports"));
    nic.ipv6 = section.flag("ipv6");
    nic.priority = static_cast<int>(section.integer("priority"));
    if (section.has("vlan")) nic.vlan = static_cast<int>(section.integer("vlan"));
    if (const YamlValue* map = section.node("dscp_map"); map != nullptr) {
        const NumberMapRule rule{expected_shape(kNicSchema, "dscp_map"), kMostDscp, 0, kMostPriority};
        nic.dscp_map = read_number_map(rule, *map, section.path("dscp_map"), reading.sink);
    }
    refuse_in_lab(reading, section, {"dscp_map"});
    read_roce_versions(section, nic);
    read_mtu(reading, section, nic);
    check_link_layer(reading, section, nic);
    read_identity(reading, section, nic);
    if (reading.nic_template != nullptr) read_parameters(*reading.nic_template, nic, reading.sink);
    read_parameters(section, nic, reading.sink);
    nic.path = part.path;
    nic.position = part.name_position;
    nic.profile_position = section.has("profile") ? section.position("profile") : nic.position;
    return nic;
}

}  // namespace

void read_nics(LabReading& reading, HostSpec& host, const YamlValue* node, const std::string& path) {
    const PartsRule rule{expected_shape(kHostSchema, "nics"), "device", kMaxNicsPerHost};
    std::vector<NamedPart> parts;
    if (node != nullptr) {
        const std::size_t errors_before = reading.sink.count();
        parts = read_named_parts(rule, *node, path, reading.sink);
        if (reading.sink.count() != errors_before) reading.names_are_complete = false;
    } else {
        parts.push_back({"", host.position, &null_value(), item_path(path, 0)});
    }
    for (const NamedPart& part : parts) {
        NicSpec nic = read_nic(reading, part, host.nics.size());
        const bool taken = std::any_of(host.nics.begin(), host.nics.end(),
                                       [&](const NicSpec& other) { return other.device == nic.device; });
        if (taken) {
            reading.sink.add(nic.position, nic.path, fmt::format("host '{}' has two NICs '{}'", host.name, nic.device));
        }
        host.nics.push_back(std::move(nic));
    }
}

}  // namespace simverbs::scenarios
