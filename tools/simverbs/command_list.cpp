// simverbs list, simverbs check, simverbs explain-schema.
#include <fmt/format.h>

#include <iostream>

#include "models/hca/device_profile.hpp"
#include "scenarios/build/known_profiles.hpp"
#include "scenarios/lang/json_schema.hpp"
#include "scenarios/lang/lab_library.hpp"
#include "scenarios/lang/lab_loader.hpp"
#include "scenarios/lang/scenario_loader.hpp"
#include "scenarios/lang/schema.hpp"
#include "scenarios/run/build_fabric.hpp"
#include "tools/simverbs/checked_scenarios.hpp"
#include "tools/simverbs/commands.hpp"
#include "tools/simverbs/exit_code.hpp"
#include "tools/simverbs/install_paths.hpp"
#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {

namespace {

std::string first_sentence(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

void list_lab(const std::string& lab) {
    LabRequest request;
    request.lab = lab;
    const scenarios::LabSpec spec = load_lab(request);
    std::cout << fmt::format("{}: {} hosts, {} switches, {} links\n", spec.name, spec.hosts.size(),
                             spec.switches.size(), spec.links.size());
    for (size_t i = 0; i < spec.hosts.size(); ++i) {
        std::cout << fmt::format("  {}", spec.hosts[i].name);
        for (const scenarios::NicSpec& nic : spec.hosts[i].nics)
            std::cout << fmt::format("  {} ({}, {})", nic.device, nic.profile,
                                     nic.link_layer == scenarios::LinkLayer::Ethernet ? "RoCE" : "InfiniBand");
        std::cout << '\n';
    }
}

}  // namespace

int run_list(const std::string& lab) {
    if (!lab.empty()) {
        list_lab(lab);
        return kSuccess;
    }
    const std::string folder = labs_folder();
    std::cout << "labs (simverbs list LAB shows its hosts):\n";
    for (const std::string& name : scenarios::list_labs(folder)) {
        scenarios::DiagnosticSink sink;
        const auto spec = scenarios::load_lab_file(folder + "/" + name + ".yaml", scenarios::lab_options(), sink);
        const bool is_default = name == scenarios::kDefaultLabName;
        std::cout << fmt::format("  {:<24} {} hosts{}{}\n", name, spec ? spec->hosts.size() : 0,
                                 is_default ? " (default)" : "",
                                 spec && !spec->description.empty() ? ": " + first_sentence(spec->description) : "");
    }
    std::cout << "NIC profiles:\n";
    for (const hca::DeviceProfile* profile : hca::all_profiles())
        std::cout << fmt::format("  {:<24} {}\n", profile->name, profile->description);
    return kSuccess;
}

int run_check(const std::vector<std::string>& files) {
    if (files.empty())
        throw UserError("check: no file is given; expected scenario or lab files, such as: simverbs check FILE.yaml");
    int code = kSuccess;
    for (const std::string& file : files) {
        scenarios::DiagnosticSink sink;
        const auto runs = load_checked(file, scenarios::run::scenario_options(), sink);
        if (!sink.empty()) {
            std::cerr << sink.to_string();
            code = kUsage;
        } else if (runs) {
            std::cout << fmt::format("{}: ok: {}\n", file, scenarios::summary_of(*runs));
        }
    }
    return code;
}

int run_explain_schema(bool json) {
    const scenarios::ScenarioOptions options = scenarios::run::scenario_options();
    if (json)
        std::cout << scenarios::json_schema(options.algorithms) << '\n';
    else
        std::cout << scenarios::describe_schema() << scenarios::describe_algorithms(options.algorithms);
    return kSuccess;
}

}  // namespace simverbs::tools
