#include "scenarios/build/known_profiles.hpp"

#include "models/hca/device_profile.hpp"
#include "scenarios/build/built_in_platforms.hpp"
#include "scenarios/build/profile_parameters.hpp"

namespace simverbs::scenarios {

namespace {

/// "ndr-400g", "cx6-hdr100": InfiniBand speeds in the name make InfiniBand NICs, unless the lab says otherwise.
bool is_infiniband(std::string_view profile) {
    for (const std::string_view speed : {"edr", "hdr", "ndr", "xdr", "fdr"}) {
        if (profile.find(speed) != std::string_view::npos) return true;
    }
    return false;
}

}  // namespace

LabOptions lab_options() {
    LabOptions options;
    for (const hca::DeviceProfile* p : hca::all_profiles())
        options.profiles.push_back({std::string(p->name),
                                    is_infiniband(p->name) ? LinkLayer::InfiniBand : LinkLayer::Ethernet,
                                    std::string(p->device_name), p->pcie});
    options.platforms = built_in_platforms();
    return options;
}

void check_profiles_of(const HostSpec& host, DiagnosticSink& sink) {
    for (const NicSpec& nic : host.nics) {
        const hca::DeviceProfile* profile = hca::find_profile(nic.profile);
        if (profile == nullptr) continue;  // reported when the lab was read
        hca::DeviceProfile copy = *profile;
        apply_parameters(nic.parameters, copy, sink);
    }
}

void check_profiles(const LabSpec& lab, DiagnosticSink& sink) {
    for (const HostSpec& host : lab.hosts) check_profiles_of(host, sink);
}

}  // namespace simverbs::scenarios
