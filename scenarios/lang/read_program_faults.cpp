// Faults that stand at no link: something dies or stands still, a program's calls, an adapter's port.
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <utility>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/scenario_reading.hpp"
#include "scenarios/lang/scenario_schemas.hpp"

namespace simverbs::scenarios {

namespace {

struct VictimRow {
    std::string_view key;
    KillTarget target;
};
constexpr std::array<VictimRow, 5> kVictims{{{"host", KillTarget::Host},
                                             {"nic", KillTarget::Nic},
                                             {"switch", KillTarget::Switch},
                                             {"port", KillTarget::Port},
                                             {"program", KillTarget::Program}}};

constexpr std::array<std::pair<std::string_view, int>, 15> kErrnos{{{"ENOMEM", ENOMEM},
                                                                    {"EAGAIN", EAGAIN},
                                                                    {"EBUSY", EBUSY},
                                                                    {"EINVAL", EINVAL},
                                                                    {"EIO", EIO},
                                                                    {"EPERM", EPERM},
                                                                    {"EACCES", EACCES},
                                                                    {"EFAULT", EFAULT},
                                                                    {"EOPNOTSUPP", EOPNOTSUPP},
                                                                    {"ETIMEDOUT", ETIMEDOUT},
                                                                    {"ENODEV", ENODEV},
                                                                    {"ENOSPC", ENOSPC},
                                                                    {"EMFILE", EMFILE},
                                                                    {"ENFILE", ENFILE},
                                                                    {"EINTR", EINTR}}};

/// One such fault while it is read.
struct LinklessFaultReader {
    ScenarioReading& reading;
    const Section& inner;
    AddressedFaultSpec& out;

    void wrong(std::string_view key, std::string problem, std::string expected) const {
        reading.sink.add(inner.position(key), inner.path(key), std::move(problem), std::move(expected));
    }

    void read() {
        switch (place_of(out.kind)) {
            case FaultPlace::Victim:
                read_victim(out.kind == AddressedFaultKind::Kill ? "dies" : "stands still");
                if (out.kind == AddressedFaultKind::Freeze) read_duration();
                return;
            case FaultPlace::Program:
                return read_program_fault();
            case FaultPlace::Port:
                return read_port_change();
            case FaultPlace::Slot:
                return read_degraded_slot(reading, inner, out);
            case FaultPlace::Link:
                return;
        }
    }

    void read_program_fault() {
        if (out.kind == AddressedFaultKind::DelayReceives) return read_delay_receives();
        read_program("program");
        if (out.kind == AddressedFaultKind::FailCall) {
            out.program.call = inner.text("call");
            out.program.number = inner.integer("number");
            out.program.count = inner.integer("count");
            out.program.error = inner.text("error");
        } else if (out.kind == AddressedFaultKind::LimitCq) {
            out.program.number = inner.integer("cq");
            out.program.entries = inner.integer("entries");
        } else {
            if (inner.has("cq")) out.program.cq = inner.integer("cq");
            out.program.number = inner.integer("arming");
            out.by = inner.time("patience");
        }
    }

    void read_victim(std::string_view what) {
        out.at = inner.time("at");
        int given = 0;
        for (const VictimRow& row : kVictims) {
            if (!inner.writes(row.key)) continue;
            ++given;
            out.target = row.target;
            if (row.target == KillTarget::Program) {
                read_program(row.key);
                if (!out.program.name.text.empty()) out.victim = out.program.name;
            } else {
                out.victim = row.target == KillTarget::Host ? read_host_ref(reading, inner, row.key)
                                                            : read_place(reading, inner, row.key);
            }
        }
        if (given == 1) return;
        reading.sink.add(
            inner.position(), inner.path(),
            given == 0 ? fmt::format("says not what {}", what) : fmt::format("more than one thing {}", what),
            "one of 'host', 'nic', 'switch', 'port' and 'program'");
    }

    void read_duration() {
        if (inner.has("for")) out.lasts = inner.time("for");
    }

    void read_program(std::string_view key) {
        if (!inner.has(key)) return;
        const PlaceRef name{inner.text(key), inner.path(key), inner.position(key)};
        std::vector<std::string_view> names;
        std::string list;
        for (const ProgramSpec& program : reading.spec.programs) {
            names.push_back(program.name);
            list += (list.empty() ? "one of " : ", ") + program.name;
            if (program.name == name.text) out.program.name = name;
        }
        if (!out.program.name.text.empty() || !reading.program_names_are_complete) return;
        reading.sink.add(name.position, name.path, fmt::format("there is no program {}", in_quotes(name.text)),
                         names.empty() ? "a scenario with programs" : list, did_you_mean(name.text, names));
    }

    void read_delay_receives() {
        read_program("program");
        out.by = inner.time("by");
        out.from = inner.time("from");
        if (!inner.has("until")) return;
        out.until = inner.time("until");
        if (out.until <= out.from) wrong("until", "ends before it begins", "a time after 'from'");
    }

    void read_port_change() {
        ProgramFaultSpec& to = out.program;
        to.port = read_place(reading, inner, "port");
        out.at = inner.time("at");
        if (out.kind == AddressedFaultKind::PortState) {
            const std::string state = inner.text("state");
            to.state = state == "active"  ? PortStateWanted::Active
                       : state == "armed" ? PortStateWanted::Armed
                                          : PortStateWanted::Down;
            read_duration();
            if (to.state == PortStateWanted::Active && out.lasts)
                wrong("for", "a port that is made active stays so", "no 'for'");
        } else if (out.kind == AddressedFaultKind::PortEvent) {
            const std::string event = inner.text("event");
            to.event = event == "lid_change"  ? PortEventKind::LidChange
                       : event == "sm_change" ? PortEventKind::SmChange
                                              : PortEventKind::ClientReregister;
            if (inner.has("lid")) to.lid = inner.integer("lid");
            if (to.lid && to.event != PortEventKind::LidChange) wrong("lid", "only lid_change has a LID", "no 'lid'");
        } else {
            to.index = inner.integer("index");
            if (out.kind == AddressedFaultKind::ChangeGid && inner.has("gid")) to.gid = inner.gid("gid");
            if (out.kind == AddressedFaultKind::ChangePkey) to.pkey = static_cast<uint16_t>(inner.integer("pkey"));
        }
    }
};

}  // namespace

int errno_of(std::string_view name) noexcept {
    for (const auto& [known, number] : kErrnos)
        if (known == name) return number;
    return 0;
}

void read_fault_without_link(ScenarioReading& reading, const Section& inner, AddressedFaultSpec& fault) {
    LinklessFaultReader{reading, inner, fault}.read();
}

}  // namespace simverbs::scenarios
