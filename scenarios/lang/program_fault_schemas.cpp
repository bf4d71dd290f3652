#include <array>

#include "scenarios/lang/scenario_schemas.hpp"

namespace simverbs::scenarios {

namespace {

using namespace std::string_view_literals;
using F = FieldKind;

constexpr std::array kCalls{
    "open_device"sv,         "alloc_pd"sv,  "reg_mr"sv,    "rereg_mr"sv,
    "alloc_null_mr"sv,       "alloc_mw"sv,  "alloc_dm"sv,  "reg_dm_mr"sv,
    "create_comp_channel"sv, "create_cq"sv, "resize_cq"sv, "create_srq"sv,
    "modify_srq"sv,          "create_qp"sv, "modify_qp"sv, "create_ah"sv,
    "attach_mcast"sv,        "open_xrcd"sv,
};
constexpr std::array kErrors{
    "ENOMEM"sv,     "EAGAIN"sv,    "EBUSY"sv,  "EINVAL"sv, "EIO"sv,    "EPERM"sv,  "EACCES"sv, "EFAULT"sv,
    "EOPNOTSUPP"sv, "ETIMEDOUT"sv, "ENODEV"sv, "ENOSPC"sv, "EMFILE"sv, "ENFILE"sv, "EINTR"sv,
};
constexpr std::array kPortStates{"down"sv, "armed"sv, "active"sv};
constexpr std::array kPortEvents{"lid_change"sv, "sm_change"sv, "client_reregister"sv};
constexpr std::string_view kMostCalls = "1000000000";

constexpr Field kProgramField{
    .key = "program", .kind = F::Text, .help = "The name of the program, with all its processes.", .required = true};
constexpr Field kPortField{.key = "port",
                           .kind = F::Text,
                           .help = "The port: HOST, HOST.DEVICE or HOST.DEVICE/PORT of a host that runs programs.",
                           .required = true};
constexpr Field kAtField{.key = "at", .kind = F::Time, .help = "When.", .required = true};

constexpr std::array kFreezeFields{
    Field{.key = "program", .kind = F::Text, .help = "A program whose threads do not run meanwhile."},
    Field{.key = "host", .kind = F::Text, .help = "A host: its programs, and its ports as those of a NIC."},
    Field{.key = "nic",
          .kind = F::Text,
          .help = "A NIC, HOST or HOST.DEVICE, that neither sends nor receives; nobody is told."},
    Field{.key = "switch", .kind = F::Text, .help = "A switch that loses everything."},
    Field{.key = "port", .kind = F::Text, .help = "A port that loses everything."},
    kAtField,
    Field{.key = "for", .kind = F::Time, .help = "How long.", .least = "1 ns", .default_note = "for ever"},
};
constexpr std::array kFailCallFields{
    kProgramField,
    Field{.key = "call",
          .kind = F::Choice,
          .help = "Which call, without the `ibv_` in front. Those that libraries make for the program count as well.",
          .choices = kCalls,
          .required = true},
    Field{.key = "number",
          .kind = F::Integer,
          .default_text = "1",
          .help = "The n-th such call of the program fails, counting from 1.",
          .least = "1",
          .most = kMostCalls},
    Field{.key = "count",
          .kind = F::Integer,
          .default_text = "1",
          .help = "So many calls fail, from that one on.",
          .least = "1",
          .most = kMostCalls},
    Field{.key = "error", .kind = F::Choice, .default_text = "ENOMEM", .help = "With which errno.", .choices = kErrors},
};
constexpr std::array kLimitCqFields{
    kProgramField,
    Field{.key = "cq",
          .kind = F::Integer,
          .default_text = "1",
          .help = "The n-th CQ that the program makes, counting from 1.",
          .least = "1",
          .most = kMostCalls},
    Field{.key = "entries",
          .kind = F::Integer,
          .default_text = "1",
          .help = "How many completions it holds; with one more it overruns, which makes the fault fire.",
          .least = "1",
          .most = "16777215"},
};
constexpr std::array kPlaceCqeFields{
    kProgramField,
    Field{.key = "cq",
          .kind = F::Integer,
          .help = "Only the n-th CQ that the program makes, counting from 1.",
          .least = "1",
          .most = kMostCalls,
          .default_note = "any"},
    Field{.key = "arming",
          .kind = F::Integer,
          .default_text = "1",
          .help = "Not before the n-th `ibv_req_notify_cq` of a CQ that is empty.",
          .least = "1",
          .most = kMostCalls},
    Field{.key = "patience",
          .kind = F::Time,
          .default_text = "1 ms",
          .help = "The thread is held before it arms an empty CQ until a completion is there, at most so long; if none "
                  "comes, the next arming is tried.",
          .least = "1 ns",
          .most = "100 s"},
};
constexpr std::array kDelayReceivesFields{
    kProgramField,
    Field{
        .key = "by", .kind = F::Time, .help = "How late they are.", .least = "1 ns", .most = "100 s", .required = true},
    Field{.key = "from", .kind = F::Time, .default_text = "0 s", .help = "Those that are posted from here on …"},
    Field{.key = "until", .kind = F::Time, .help = "… to before here.", .default_note = "the end"},
};
constexpr std::array kPortStateFields{
    kPortField,
    Field{.key = "state",
          .kind = F::Choice,
          .help = "Nothing passes a port that is down; one that is armed (InfiniBand) receives, but sends nothing.",
          .choices = kPortStates,
          .required = true},
    kAtField,
    Field{.key = "for",
          .kind = F::Time,
          .help = "How long; it is active again then.",
          .least = "1 ns",
          .default_note = "for ever"},
};
constexpr std::array kChangeGidFields{
    kPortField,
    Field{.key = "index", .kind = F::Integer, .help = "Which entry.", .least = "0", .most = "254", .required = true},
    Field{.key = "gid", .kind = F::Gid, .help = "What it becomes.", .default_note = "the entry is removed"},
    kAtField,
};
constexpr std::array kChangePkeyFields{
    kPortField,
    Field{.key = "index", .kind = F::Integer, .default_text = "0", .help = "Which entry.", .least = "0", .most = "127"},
    Field{.key = "pkey",
          .kind = F::Integer,
          .help = "What it becomes; 0 removes it.",
          .least = "0",
          .most = "0xffff",
          .required = true},
    kAtField,
};
constexpr std::array kDegradeSlotFields{
    Field{.key = "slot",
          .kind = F::Text,
          .help = "The slot: HOST/SLOT, or HOST/GPU for that of a GPU, of a host with a platform that runs programs.",
          .required = true},
    Field{.key = "gen",
          .kind = F::Integer,
          .help = "The PCIe generation that it has meanwhile.",
          .least = "1",
          .most = "5",
          .default_note = "as the platform"},
    Field{.key = "width",
          .kind = F::Integer,
          .help = "The lanes that it has meanwhile: 1, 2, 4, 8 or 16.",
          .least = "1",
          .most = "16",
          .default_note = "as the platform"},
    Field{.key = "from", .kind = F::Time, .default_text = "0 s", .help = "When it begins."},
    Field{.key = "until", .kind = F::Time, .help = "When all is well again.", .default_note = "never"},
};
constexpr std::array kPortEventFields{
    kPortField,
    Field{.key = "event", .kind = F::Choice, .help = "What.", .choices = kPortEvents, .required = true},
    Field{.key = "lid",
          .kind = F::Integer,
          .help = "With lid_change: the LID that it gets. What is connected goes on by the old one.",
          .least = "1",
          .most = "0xbfff"},
    kAtField,
};

}  // namespace

constexpr ComponentSchema kFreezeSchema{
    "freeze", "A program, host, NIC, switch or port that stands still: exactly one of them.", kFreezeFields};
constexpr ComponentSchema kFailCallSchema{"fail_call", "A call that fails, though nothing is wrong with it.",
                                          kFailCallFields};
constexpr ComponentSchema kLimitCqSchema{
    "limit_cq", "A CQ that runs over: IBV_EVENT_CQ_ERR, and its QPs go to the error state.", kLimitCqFields};
constexpr ComponentSchema kPlaceCqeSchema{
    "place_cqe",
    "The race that a program must win: `ibv_poll_cq` has found nothing, a completion comes, and only then the CQ is "
    "armed. No event tells of it, so that whoever does not poll once more after arming waits for ever.",
    kPlaceCqeFields};
constexpr ComponentSchema kDelayReceivesSchema{
    "delay_receives", "A receiver that is slow to post: its peers get RNR NAKs.", kDelayReceivesFields};
constexpr ComponentSchema kPortStateSchema{
    "port_state",
    "Programs get IBV_EVENT_PORT_ERR where it is active no more, IBV_EVENT_PORT_ACTIVE where it is again.",
    kPortStateFields};
constexpr ComponentSchema kChangeGidSchema{
    "change_gid", "Programs get IBV_EVENT_GID_CHANGE. QPs that are connected go on; nobody finds the old GID any more.",
    kChangeGidFields};
constexpr ComponentSchema kChangePkeySchema{
    "change_pkey",
    "Programs get IBV_EVENT_PKEY_CHANGE. QPs have the new key at once; packets with another are dropped.",
    kChangePkeyFields};
constexpr ComponentSchema kPortEventSchema{
    "port_event", "IBV_EVENT_LID_CHANGE, IBV_EVENT_SM_CHANGE or IBV_EVENT_CLIENT_REREGISTER.", kPortEventFields};
constexpr ComponentSchema kDegradeSlotSchema{
    "degrade_slot",
    "A lane that fails, a riser of an older generation: `gen`, `width` or both. It fires if something passes the slot "
    "meanwhile.",
    kDegradeSlotFields};

}  // namespace simverbs::scenarios
