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

/// What the kernel of a host with GPUs has loaded when programs begin.
struct GpuDriver {
    bool peermem = true;  ///< nvidia_peermem: ibv_reg_mr takes GPU memory
    bool gdrdrv = true;   ///< GDRCopy's module
    bool dma_buf = true;  ///< GPU memory is exported as dma-bufs
};

/// A platform without adapters, and the slots for them.
struct Platform {
    host::PlatformSpec inside;
    GpuDriver driver;
    std::vector<host::DeviceSlotSpec> slots;
};

/// The inside of one host, with its adapters in their slots, in their order.
struct HostInside {
    host::PlatformSpec spec;  ///< names of adapters are their slots'
    GpuDriver driver;
    SourcePosition position;
    std::string path;
};

/// The platform that `node` says: a built-in one's name, a file, or a map. nullptr after a report. The result lives as
/// long as `reading`.
[[nodiscard]] const Platform* read_platform(LabReading& reading, const YamlValue& node, const std::string& path);

/// Puts the adapters of `host` into the slots of the platform that `node` (null: the lab's, if it has one) says.
void read_inside(LabReading& reading, HostSpec& host, const YamlValue* node, const std::string& path);

}  // namespace simverbs::scenarios
