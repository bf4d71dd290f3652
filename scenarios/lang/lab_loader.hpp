// From a lab file to a checked LabSpec.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/pcie/link_spec.hpp"
#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/lab_spec.hpp"
#include "scenarios/lang/yaml_tree.hpp"

namespace simverbs::scenarios {

/// What the language must know of an HCA profile. The models hand these in; the language has no list of its own.
struct KnownProfile {
    std::string name;
    LinkLayer link_layer = LinkLayer::Ethernet;  ///< of a NIC that does not say
    std::string device_prefix = "mlx5_";         ///< a NIC without a name is prefix + number
    pcie::LinkSpec pcie;                         ///< what its end of a PCIe link can do; no lanes: it is software
};

/// A built-in platform: the text of its file.
struct KnownPlatform {
    std::string name;
    std::string file;
    std::string_view text;
};

struct LabOptions {
    /// The profiles that exist; empty: every name is accepted.
    std::vector<KnownProfile> profiles;
    /// The profile of a NIC for which the lab names none.
    std::string default_profile = "cx7-400g";
    std::vector<KnownPlatform> platforms;
};

/// Reads the text of a lab file. Every mistake is added to `sink`; nullopt if there was any.
[[nodiscard]] std::optional<LabSpec> parse_lab(std::string_view text, std::string_view file_name,
                                               const LabOptions& options, DiagnosticSink& sink);

/// Reads a lab file.
[[nodiscard]] std::optional<LabSpec> load_lab_file(const std::string& path, const LabOptions& options,
                                                   DiagnosticSink& sink);

/// Reads a lab that is part of a larger document; `path` is the path of `node` in it.
[[nodiscard]] std::optional<LabSpec> read_lab(const YamlValue& node, const std::string& path, const LabOptions& options,
                                              DiagnosticSink& sink);

}  // namespace simverbs::scenarios
