#include <array>

#include "scenarios/lang/scenario_schemas.hpp"

namespace simverbs::scenarios {

namespace {

using namespace std::string_view_literals;
using Q = FieldKind;

constexpr std::array kAuto{"auto"sv};
constexpr std::array kOff{"off"sv};
constexpr std::array kEcnPoints{"dequeue"sv, "enqueue"sv};

constexpr Field kEnabledField{
    .key = "enabled", .kind = Q::Flag, .default_text = "true", .help = "Whether it is done at all."};
constexpr Field kPrioritiesField{.key = "priorities",
                                 .kind = Q::Integers,
                                 .default_text = "3",
                                 .help = "For which 802.1p priorities.",
                                 .least = "0",
                                 .most = "7"};

// Defaults: reserve and XON offset of the HPCC simulator; the watchdog is off in most switches as delivered.
constexpr std::array kPfcFields{
    kEnabledField,
    kPrioritiesField,
    Field{.key = "headroom",
          .kind = Q::Size,
          .default_text = "auto",
          .help = "Buffer of each port and lossless priority for what arrives after XOFF; auto: from rate, cable and "
                  "MTU as SONiC computes it.",
          .most = "64 MiB",
          .words = kAuto},
    Field{.key = "reserve",
          .kind = Q::Size,
          .default_text = "4 KiB",
          .help = "Buffer that each port and priority has for itself.",
          .most = "64 MiB"},
    Field{.key = "xon_offset",
          .kind = Q::Size,
          .default_text = "3 KiB",
          .help = "A paused sender goes on when the queue is this far below the threshold.",
          .most = "64 MiB"},
    Field{.key = "quanta",
          .kind = Q::Integer,
          .default_text = "65535",
          .help = "Pause time in a pause frame, in units of 512 bit times.",
          .least = "1",
          .most = "65535"},
    Field{.key = "watchdog",
          .kind = Q::Time,
          .default_text = "off",
          .help = "A queue paused for so long is drained and its pauses are ignored.",
          .least = "1 us",
          .most = "100 s",
          .words = kOff},
};

// Defaults: RoCE settings of Cumulus and Onyx.
constexpr std::array kEcnFields{
    kEnabledField,
    kPrioritiesField,
    Field{.key = "kmin",
          .kind = Q::Size,
          .default_text = "150 KB",
          .help = "No packet is marked in a shorter queue.",
          .most = "64 MiB"},
    Field{.key = "kmax",
          .kind = Q::Size,
          .default_text = "1500 KB",
          .help = "Every packet is marked in a longer queue.",
          .most = "64 MiB"},
    Field{.key = "pmax", .kind = Q::Probability, .default_text = "100 %", .help = "Probability of a mark at kmax."},
    Field{.key = "at",
          .kind = Q::Choice,
          .default_text = "dequeue",
          .help = "When the queue is looked at.",
          .choices = kEcnPoints},
};

constexpr std::array kSchedulerFields{
    Field{.key = "strict",
          .kind = Q::Integers,
          .default_text = "6",
          .help = "Priorities that are served before all others, the highest first.",
          .least = "0",
          .most = "7"},
    Field{.key = "dwrr",
          .kind = Q::Structure,
          .help = "Weights of the other priorities.",
          .shape = "a map from priorities (0 to 7) to weights (1 to 1000)",
          .default_note = "1 each",
          .forms = kFormValuesMap},
};

constexpr std::array kVlArbitrationFields{
    Field{.key = "high",
          .kind = Q::Structure,
          .help = "High-priority table: these VLs go first, and share by weight.",
          .shape = "a map from VLs (0 to 14) to weights (0 to 255, in 64 B)",
          .default_note = "empty",
          .forms = kFormValuesMap},
    Field{.key = "low",
          .kind = Q::Structure,
          .help = "Low-priority table. VLs that neither table names have weight 64 in it.",
          .shape = "a map from VLs (0 to 14) to weights (0 to 255, in 64 B)",
          .default_note = "64 for every VL",
          .forms = kFormValuesMap},
    Field{.key = "limit",
          .kind = Q::Integer,
          .default_text = "255",
          .help =
              "Limit of High-Priority: 4 KiB each that may go before a low one gets its turn; 0: one packet; 255: no "
              "limit.",
          .least = "0",
          .most = "255"},
};

constexpr std::array kFecnFields{
    kEnabledField,
    Field{.key = "threshold",
          .kind = Q::Integer,
          .default_text = "8",
          .help = "0 never marks, 15 marks at the shortest queue.",
          .least = "0",
          .most = "15"},
    Field{.key = "marking_rate",
          .kind = Q::Integer,
          .default_text = "0",
          .help = "Packets between two that are marked, on average.",
          .least = "0",
          .most = "65535"},
    Field{.key = "packet_size",
          .kind = Q::Size,
          .default_text = "0 B",
          .help = "Shorter packets are not marked.",
          .most = "16 KiB"},
};

}  // namespace

constexpr ComponentSchema kPfcSchema{"pfc", "Priority flow control of a switch (802.1Qbb).", kPfcFields};
constexpr ComponentSchema kEcnSchema{"ecn", "Where and how often a switch sets CE.", kEcnFields};
constexpr ComponentSchema kSchedulerSchema{"scheduler", "The order in which an egress serves its priorities.",
                                           kSchedulerFields};
constexpr ComponentSchema kVlArbitrationSchema{"vl_arbitration", "VL arbitration tables of IBTA.",
                                               kVlArbitrationFields};
constexpr ComponentSchema kFecnSchema{"fecn", "Congestion marking of an InfiniBand switch.", kFecnFields};

}  // namespace simverbs::scenarios
