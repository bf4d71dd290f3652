#include "scenarios/build/profile_parameters.hpp"

#include <array>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/field_value.hpp"

namespace simverbs::scenarios {

namespace {

using hca::DeviceProfile;

/// One parameter: how it looks in a file, and where its value goes.
struct Parameter {
    Field field;
    void (*set)(DeviceProfile&, const FieldValue&);
};

template <auto Part, auto Member>
void set_time(DeviceProfile& p, const FieldValue& value) {
    (p.*Part).*Member = sim::SimTime::ps(std::get<int64_t>(value));
}
template <auto Part, auto Member>
void set_rate(DeviceProfile& p, const FieldValue& value) {
    (p.*Part).*Member = sim::BitRate::bps(std::get<int64_t>(value));
}
template <auto Part, auto Member>
void set_number(DeviceProfile& p, const FieldValue& value) {
    using T = std::remove_reference_t<decltype((p.*Part).*Member)>;
    (p.*Part).*Member = static_cast<T>(std::get<int64_t>(value));
}
template <auto Part, auto Member>
void set_flag(DeviceProfile& p, const FieldValue& value) {
    (p.*Part).*Member = std::get<bool>(value);
}

constexpr auto kCpu = &DeviceProfile::cpu;
constexpr auto kTiming = &DeviceProfile::timing;
constexpr auto kAttr = &DeviceProfile::attr;
using Cpu = hca::HostCosts;
using Timing = hca::HcaTiming;
using Attr = hca::DeviceAttr;

constexpr Field time_field(std::string_view key, std::string_view help, std::string_view least = "0 ps") {
    return {.key = key, .kind = FieldKind::Time, .help = help, .least = least, .most = "1 s"};
}

constexpr std::array kParameters = {
    Parameter{time_field("post_send", "CPU time of the first work request of an ibv_post_send"),
              set_time<kCpu, &Cpu::post_send>},
    Parameter{time_field("post_send_more", "CPU time of each further one of the same list"),
              set_time<kCpu, &Cpu::post_send_more>},
    Parameter{time_field("post_recv", "CPU time of each receive work request"), set_time<kCpu, &Cpu::post_recv>},
    Parameter{time_field("poll_empty", "CPU time of an ibv_poll_cq that finds nothing", "1 ns"),
              set_time<kCpu, &Cpu::poll_empty>},
    Parameter{time_field("poll_cqe", "CPU time of each completion taken"), set_time<kCpu, &Cpu::poll_cqe>},
    Parameter{time_field("inline_per_64b", "CPU time of copying 64 bytes of inline data"),
              set_time<kCpu, &Cpu::inline_per_64b>},
    Parameter{time_field("arm_cq", "CPU time of ibv_req_notify_cq"), set_time<kCpu, &Cpu::arm_cq>},
    Parameter{time_field("memory_poll", "noticing a changed cache line that a program spins on"),
              set_time<kCpu, &Cpu::memory_poll>},
    Parameter{time_field("control", "any control call: system call and firmware command"),
              set_time<kCpu, &Cpu::control>},
    Parameter{time_field("mmio_write", "doorbell store to its arrival in the adapter", "1 ns"),
              set_time<kTiming, &Timing::mmio_write>},
    Parameter{
        {.key = "blue_flame", .kind = FieldKind::Flag, .help = "a small WQE travels in the doorbell write itself"},
        set_flag<kTiming, &Timing::blue_flame>},
    Parameter{{.key = "blue_flame_bytes",
               .kind = FieldKind::Integer,
               .help = "largest WQE that does, in bytes",
               .least = "0",
               .most = "4096"},
              set_number<kTiming, &Timing::blue_flame_bytes>},
    Parameter{time_field("pcie_read", "round trip of a small DMA read"), set_time<kTiming, &Timing::pcie_read>},
    Parameter{time_field("pcie_write", "posted write: adapter to visible in memory", "1 ns"),
              set_time<kTiming, &Timing::pcie_write>},
    Parameter{{.key = "pcie_read_rate",
               .kind = FieldKind::Rate,
               .help = "payload rate of DMA reads",
               .least = "1 Gb/s",
               .most = "100 Tb/s"},
              set_rate<kTiming, &Timing::pcie_read_rate>},
    Parameter{{.key = "pcie_write_rate",
               .kind = FieldKind::Rate,
               .help = "payload rate of DMA writes",
               .least = "1 Gb/s",
               .most = "100 Tb/s"},
              set_rate<kTiming, &Timing::pcie_write_rate>},
    Parameter{time_field("wqe_process", "WQE in the adapter to its first packet ready"),
              set_time<kTiming, &Timing::wqe_process>},
    Parameter{time_field("tx_pipeline", "packet ready to first bit on the wire"),
              set_time<kTiming, &Timing::tx_pipeline>},
    Parameter{time_field("rx_pipeline", "tail on the wire to transport processing done"),
              set_time<kTiming, &Timing::rx_pipeline>},
    Parameter{time_field("ack_generation", "request processed to its ACK ready"),
              set_time<kTiming, &Timing::ack_generation>},
    Parameter{time_field("cqe_process", "decision to complete to the CQE's posted write"),
              set_time<kTiming, &Timing::cqe_process>},
    Parameter{time_field("atomic_unit", "read-modify-write of host memory"), set_time<kTiming, &Timing::atomic_unit>},
    Parameter{time_field("interrupt", "MSI-X to the completion channel"), set_time<kTiming, &Timing::interrupt>},
    Parameter{time_field("message_gap", "least time between two messages of the adapter"),
              set_time<kTiming, &Timing::message_gap>},
    Parameter{time_field("qp_message_gap", "least time between two messages of one QP"),
              set_time<kTiming, &Timing::qp_message_gap>},
    Parameter{time_field("qp_packet_gap", "least time between two packets of one QP"),
              set_time<kTiming, &Timing::qp_packet_gap>},
    Parameter{time_field("message_overhead", "more time that a multi-packet message holds its QP"),
              set_time<kTiming, &Timing::message_overhead>},
    Parameter{time_field("loopback", "through the adapter's internal loopback", "1 ns"),
              set_time<kTiming, &Timing::loopback>},
    Parameter{{.key = "max_inline_data",
               .kind = FieldKind::Integer,
               .help = "largest cap.max_inline_data, in bytes",
               .least = "0",
               .most = "4096"},
              set_number<kAttr, &Attr::max_inline_data>},
    Parameter{{.key = "max_qp_wr",
               .kind = FieldKind::Integer,
               .help = "as in ibv_device_attr",
               .least = "1",
               .most = "32768"},
              set_number<kAttr, &Attr::max_qp_wr>},
    Parameter{{.key = "max_qp_rd_atom",
               .kind = FieldKind::Integer,
               .help = "as in ibv_device_attr",
               .least = "1",
               .most = "128"},
              set_number<kAttr, &Attr::max_qp_rd_atom>},
};

constexpr auto kFields = [] {
    std::array<Field, kParameters.size()> fields{};
    for (size_t i = 0; i < fields.size(); ++i) fields[i] = kParameters[i].field;
    return fields;
}();

constexpr ComponentSchema kSchema{"parameters", "Parameters of a NIC profile; each replaces the profile's own value.",
                                  kFields};

}  // namespace

const ComponentSchema& profile_parameter_schema() noexcept {
    return kSchema;
}

void apply_parameters(const std::map<std::string, ParameterOverride>& overrides, DeviceProfile& profile,
                      DiagnosticSink& sink) {
    for (const auto& [name, value] : overrides) {
        const Parameter* parameter = nullptr;
        for (const Parameter& p : kParameters) {
            if (p.field.key == name) parameter = &p;
        }
        if (parameter == nullptr) {
            sink.add(value.key_position, value.path, "profiles have no parameter '" + name + "'", {},
                     did_you_mean(name, kSchema.keys()));
            continue;
        }
        const auto read = read_field_value(parameter->field, value.text, value.position, value.path, sink);
        if (read) parameter->set(profile, *read);
    }
}

}  // namespace simverbs::scenarios
