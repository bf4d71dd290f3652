// The keys that labs and scenarios have in common. Internal to scenarios/lang.
#pragma once

#include <array>
#include <string_view>

#include "scenarios/lang/lab_schemas.hpp"
#include "scenarios/lang/platform_schemas.hpp"
#include "scenarios/lang/topology.hpp"

namespace simverbs::scenarios {

inline constexpr std::array<std::string_view, 2> kClockNames{"virtual", "wall"};

inline constexpr std::array kLabFields{
    Field{.key = "name", .kind = FieldKind::Name, .help = "What it is called.", .default_note = "the file's name"},
    Field{.key = "description", .kind = FieldKind::Text, .help = "A sentence for people."},
    Field{.key = "seed",
          .kind = FieldKind::Integer,
          .default_text = "1",
          .help = "Everything that is random follows from it.",
          .least = "0"},
    Field{.key = "clock",
          .kind = FieldKind::Choice,
          .default_text = "virtual",
          .help = "Whether programs live in simulated or in real time.",
          .choices = kClockNames},
    Field{.key = "hosts",
          .kind = FieldKind::Structure,
          .help = "The simulated hosts: how many (then h0, h1, …), their names, or each by itself.",
          .component = &kHostSchema,
          .shape = "a number of hosts, a list of names or hosts, or a map of hosts",
          .default_note = "2",
          .forms = kFormNumber | kFormTexts | kFormList | kFormNamedMap},
    Field{.key = "nic",
          .kind = FieldKind::Structure,
          .help = "What every NIC has unless it says otherwise.",
          .component = &kNicSchema,
          .shape = "a profile's name or a map",
          .forms = kFormText | kFormMap},
    Field{.key = "platform",
          .kind = FieldKind::Structure,
          .help = "The inside of every host that does not say otherwise.",
          .component = &kPlatformSchema,
          .shape = "a platform's name, a file or a map",
          .default_note = "ideal: nothing but the profile's latencies between a NIC and memory",
          .forms = kFormText | kFormMap},
    Field{.key = "switch",
          .kind = FieldKind::Section,
          .help = "What every switch has unless it says otherwise.",
          .component = &kSwitchSchema},
    Field{.key = "link",
          .kind = FieldKind::Section,
          .help = "What every link has unless it says otherwise.",
          .component = &kLinkSchema},
    Field{.key = "topology",
          .kind = FieldKind::Structure,
          .help = "How hosts and switches are wired: the name of a generator, or a map with "
                  "its `kind` and its keys.",
          .shape = "a topology's name or a map with 'kind'",
          .default_note = "explicit if `links` are given without it, else single_switch",
          .forms = kFormText | kFormMap,
          .variants = &topology_schemas},
    Field{.key = "switches",
          .kind = FieldKind::Structure,
          .help = "The switches, by name. A generated switch is adjusted here.",
          .component = &kSwitchSchema,
          .shape = "a list of names or switches, or a map of switches",
          .forms = kFormTexts | kFormList | kFormNamedMap},
    Field{.key = "links",
          .kind = FieldKind::Structure,
          .help = "The cables of an explicit topology; adjusts the cables of a generated one.",
          .component = &kLinkSchema,
          .shape = "a list of maps with 'a' and 'b'",
          .forms = kFormList},
};

}  // namespace simverbs::scenarios
