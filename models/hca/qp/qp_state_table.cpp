#include "models/hca/qp/qp_state_table.hpp"

namespace simverbs::hca {
namespace {

using enum QpTableType;
using Table = std::array<std::array<QpTransition, kQpStates>, kQpStates>;

struct Row {
    QpState from, to;
    QpTableType type;
    uint32_t required, optional;
};

constexpr uint32_t kAccess = kAccessFlags;
constexpr uint32_t kDatagram = kPkeyIndex | kPort | kQkey;
constexpr uint32_t kConnected = kPkeyIndex | kPort | kAccess;
constexpr uint32_t kAltAccessPkey = kAltPath | kAccess | kPkeyIndex;
constexpr uint32_t kConnectedPath = kCurState | kAltPath | kAccess | kPathMigState;
constexpr uint32_t kRtrConnected = kAv | kPathMtu | kDestQpn | kRqPsn;
constexpr uint32_t kRtrReliable = kRtrConnected | kMaxDestRdAtomic | kMinRnrTimer;
constexpr uint32_t kRtsReliable = kTimeout | kRetryCnt | kRnrRetry | kSqPsn | kMaxQpRdAtomic;
constexpr uint32_t kSqdRequester =
    kPort | kAv | kTimeout | kRetryCnt | kRnrRetry | kMaxQpRdAtomic | kAltPath | kAccess | kPkeyIndex | kPathMigState;
constexpr uint32_t kSqdTarget =
    kPort | kAv | kTimeout | kMaxDestRdAtomic | kAltPath | kAccess | kPkeyIndex | kMinRnrTimer | kPathMigState;

using S = QpState;
// clang-format off
constexpr Row kRows[] = {
    // RESET → INIT
    {S::Reset, S::Init, Ud,     kDatagram,  0},
    {S::Reset, S::Init, Raw,    kPort,      0},
    {S::Reset, S::Init, Uc,     kConnected, 0},
    {S::Reset, S::Init, Rc,     kConnected, 0},
    {S::Reset, S::Init, XrcIni, kConnected, 0},
    {S::Reset, S::Init, XrcTgt, kConnected, 0},
    // INIT → INIT
    {S::Init, S::Init, Ud,     0, kDatagram},
    {S::Init, S::Init, Raw,    0, 0},
    {S::Init, S::Init, Uc,     0, kConnected},
    {S::Init, S::Init, Rc,     0, kConnected},
    {S::Init, S::Init, XrcIni, 0, kConnected},
    {S::Init, S::Init, XrcTgt, 0, kConnected},
    // INIT → RTR
    {S::Init, S::Rtr, Ud,     0,             kPkeyIndex | kQkey},
    {S::Init, S::Rtr, Raw,    0,             0},
    {S::Init, S::Rtr, Uc,     kRtrConnected, kAltAccessPkey},
    {S::Init, S::Rtr, Rc,     kRtrReliable,  kAltAccessPkey},
    {S::Init, S::Rtr, XrcIni, kRtrConnected, kAltAccessPkey},
    {S::Init, S::Rtr, XrcTgt, kRtrReliable,  kAltAccessPkey},
    // RTR → RTS
    {S::Rtr, S::Rts, Ud,     kSqPsn,            kCurState | kQkey},
    {S::Rtr, S::Rts, Raw,    0,                 kRateLimit},
    {S::Rtr, S::Rts, Uc,     kSqPsn,            kConnectedPath},
    {S::Rtr, S::Rts, Rc,     kRtsReliable,      kConnectedPath | kMinRnrTimer},
    {S::Rtr, S::Rts, XrcIni, kRtsReliable,      kConnectedPath},
    {S::Rtr, S::Rts, XrcTgt, kTimeout | kSqPsn, kConnectedPath | kMinRnrTimer},
    // RTS → RTS
    {S::Rts, S::Rts, Ud,     0, kCurState | kQkey},
    {S::Rts, S::Rts, Raw,    0, kRateLimit},
    {S::Rts, S::Rts, Uc,     0, kConnectedPath},
    {S::Rts, S::Rts, Rc,     0, kConnectedPath | kMinRnrTimer},
    {S::Rts, S::Rts, XrcIni, 0, kConnectedPath},
    {S::Rts, S::Rts, XrcTgt, 0, kConnectedPath | kMinRnrTimer},
    // RTS → SQD
    {S::Rts, S::Sqd, Ud,     0, kEnSqdAsyncNotify},
    {S::Rts, S::Sqd, Raw,    0, 0},
    {S::Rts, S::Sqd, Uc,     0, kEnSqdAsyncNotify},
    {S::Rts, S::Sqd, Rc,     0, kEnSqdAsyncNotify},
    {S::Rts, S::Sqd, XrcIni, 0, kEnSqdAsyncNotify},
    {S::Rts, S::Sqd, XrcTgt, 0, kEnSqdAsyncNotify},
    // SQD → RTS
    {S::Sqd, S::Rts, Ud,     0, kCurState | kQkey},
    {S::Sqd, S::Rts, Raw,    0, 0},
    {S::Sqd, S::Rts, Uc,     0, kConnectedPath},
    {S::Sqd, S::Rts, Rc,     0, kConnectedPath | kMinRnrTimer},
    {S::Sqd, S::Rts, XrcIni, 0, kConnectedPath},
    {S::Sqd, S::Rts, XrcTgt, 0, kConnectedPath | kMinRnrTimer},
    // SQD → SQD
    {S::Sqd, S::Sqd, Ud,     0, kPkeyIndex | kQkey},
    {S::Sqd, S::Sqd, Raw,    0, 0},
    {S::Sqd, S::Sqd, Uc,     0, kAv | kAltPath | kAccess | kPkeyIndex | kPathMigState},
    {S::Sqd, S::Sqd, Rc,     0, kSqdRequester | kMaxDestRdAtomic | kMinRnrTimer},
    {S::Sqd, S::Sqd, XrcIni, 0, kSqdRequester},
    {S::Sqd, S::Sqd, XrcTgt, 0, kSqdTarget},
    // SQE → RTS: a reliable QP is never in SQE.
    {S::Sqe, S::Rts, Ud,     0, kCurState | kQkey},
    {S::Sqe, S::Rts, Raw,    0, 0},
    {S::Sqe, S::Rts, Uc,     0, kCurState | kAccess},
};
// clang-format on

constexpr size_t at(QpState s) noexcept {
    return static_cast<size_t>(s);
}

constexpr Table make_table() {
    Table t{};
    for (size_t s = 0; s < kQpStates; ++s) {
        t[s][at(S::Reset)].valid = true;
        t[s][at(S::Err)].valid = s != at(S::Reset);
    }
    for (const Row& r : kRows) {
        QpTransition& cell = t[at(r.from)][at(r.to)];
        cell.valid = true;
        cell.required[static_cast<size_t>(r.type)] = r.required;
        cell.optional[static_cast<size_t>(r.type)] = r.optional;
    }
    return t;
}

constexpr Table kTable = make_table();

constexpr size_t count_valid() {
    size_t n = 0;
    for (const auto& row : kTable)
        for (const QpTransition& cell : row) n += cell.valid ? 1 : 0;
    return n;
}
// 7 to RESET, 6 to ERR, and the nine blocks above.
static_assert(count_valid() == 7 + 6 + 9);
static_assert(!kTable[at(S::Reset)][at(S::Err)].valid);
static_assert(std::size(kRows) == 8 * kQpTableTypes + 3);

}  // namespace

const QpTransition& qp_transition(QpState from, QpState to) noexcept {
    return kTable[at(from)][at(to)];
}

}  // namespace simverbs::hca
