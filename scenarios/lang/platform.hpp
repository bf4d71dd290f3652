// A host's inside as a platform file describes it, and where its adapters sit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/host/platform_spec.hpp"
#include "scenarios/lang/diagnostic.hpp"

namespace simverbs::scenarios {

struct HostSpec;
struct LabReading;
class Section;
struct YamlValue;

/// A place of a platform: a free one, or that of a GPU.
struct PlatformSlot {
    host::DeviceSlotSpec spec;
    bool has_gpu = false;
};

/// A platform without adapters.
struct Platform {
    host::PlatformSpec inside;  ///< a GPU's name is its slot's
    std::vector<PlatformSlot> slots;
    std::vector<std::string> gpu_names;
};

/// The inside of one host, with its adapters in their slots, in their order.
struct HostInside {
    host::PlatformSpec spec;  ///< names of adapters and GPUs are their slots'
    std::vector<std::string> gpu_names;
    SourcePosition position;
    std::string path;
};

/// The platform that `node` says: a built-in one's name, a file, or a map. nullptr after a report. The result lives as
/// long as `reading`.
[[nodiscard]] const Platform* read_platform(LabReading& reading, const YamlValue& node, const std::string& path);

/// Puts the adapters of `host` into the slots of the platform that `node` (null: the lab's, if it has one) says.
void read_inside(LabReading& reading, HostSpec& host, const YamlValue* node, const std::string& path);

}  // namespace simverbs::scenarios
