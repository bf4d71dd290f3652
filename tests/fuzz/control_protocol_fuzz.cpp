// Messages of a lying program to the control path. An input is a list of messages: operation, mode, payload length,
// payload. Modes 0 and 2 make the header right and the length that of the operation, so that handlers are reached; mode
// 1 puts handles that replies gave where the operation has them, too; mode 3 is garbage.

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "tests/fuzz/detached_lab.hpp"
#include "verbs_shim/protocol/gpu_messages.hpp"
#include "verbs_shim/protocol/messages.hpp"
#include "verbs_shim/server/control.hpp"

namespace {

using namespace simverbs;
using protocol::Op;

size_t message_bytes(Op op) {
    switch (op) {
        case Op::OpenDevice:
        case Op::QueryDevice:
        case Op::QueryPort:
        case Op::QueryGid:
        case Op::QueryPkey:
            return sizeof(protocol::DeviceRequest);
        case Op::RegMr:
        case Op::ReregMr:
            return sizeof(protocol::RegMrRequest);
        case Op::CreateCq:
        case Op::ResizeCq:
            return sizeof(protocol::CreateCqRequest);
        case Op::CreateQp:
            return sizeof(protocol::CreateQpRequest);
        case Op::ModifyQp:
            return sizeof(protocol::ModifyQpRequest);
        case Op::CreateSrq:
            return sizeof(protocol::CreateSrqRequest);
        case Op::ModifySrq:
            return sizeof(protocol::ModifySrqRequest);
        case Op::CreateAh:
            return sizeof(protocol::CreateAhRequest);
        case Op::AttachMcast:
        case Op::DetachMcast:
            return sizeof(protocol::McastRequest);
        case Op::ReadCounter:
            return sizeof(protocol::ReadCounterRequest);
        case Op::Explain:
            return sizeof(protocol::ExplainRequest);
        case Op::Resolve:
            return sizeof(protocol::ResolveRequest);
        case Op::AdviseMr:
            return sizeof(protocol::AdviseMrRequest);
        case Op::AllocDm:
            return sizeof(protocol::AllocDmRequest);
        case Op::RegDmMr:
            return sizeof(protocol::RegDmMrRequest);
        case Op::OpenQp:
            return sizeof(protocol::OpenQpRequest);
        case Op::CreateFlow:
            return sizeof(protocol::CreateFlowRequest);
        case Op::CommandCm:
            return sizeof(protocol::CmCommandRequest);
        case Op::UseGpu:
            return sizeof(protocol::GpuRequest);
        case Op::RegDmaBufMr:
            return sizeof(protocol::RegDmaBufMrRequest);
        case Op::OpenGpus:
        case Op::AllocNullMr:
        case Op::FreeDm:
        case Op::OpenCm:
        case Op::CloseCm:
        case Op::ReserveSlot:
        case Op::Hello:
        case Op::CloseDevice:
        case Op::AllocPd:
        case Op::DeallocPd:
        case Op::DeregMr:
        case Op::CreateCompChannel:
        case Op::DestroyCompChannel:
        case Op::DestroyCq:
        case Op::QueryQp:
        case Op::DestroyQp:
        case Op::QuerySrq:
        case Op::DestroySrq:
        case Op::DestroyAh:
        case Op::AllocMw:
        case Op::DeallocMw:
        case Op::OpenXrcd:
        case Op::CloseXrcd:
        case Op::UnshareMemory:
        case Op::DestroyFlow:
        case Op::kCount:
            return sizeof(protocol::ObjectRequest);
    }
    return sizeof(protocol::RequestHeader);
}

/// What a handle names, so that it can stand where it belongs.
enum class Kind : uint8_t { Context, Pd, Mr, Channel, Cq, Qp, Srq, Ah, Mw, Xrcd, Dm, CmFile, Segment };

struct Field {
    size_t offset;
    Kind kind;
};

/// Handles in the message of an operation.
std::vector<Field> fields_of(Op op) {
    using namespace protocol;
    constexpr Field kContext{offsetof(ObjectRequest, context), Kind::Context};
    const auto object = [&](Kind kind) {
        return std::vector<Field>{kContext, {offsetof(ObjectRequest, handle), kind}};
    };
    switch (op) {
        case Op::CloseDevice:
        case Op::AllocPd:
        case Op::CreateCompChannel:
        case Op::OpenXrcd:
        case Op::OpenCm:
            return {kContext};
        case Op::DeallocPd:
        case Op::AllocMw:
        case Op::AllocNullMr:
            return object(Kind::Pd);
        case Op::RegMr:
        case Op::ReregMr:
            return {kContext,
                    {offsetof(RegMrRequest, pd), Kind::Pd},
                    {offsetof(RegMrRequest, mr), Kind::Mr},
                    {offsetof(RegMrRequest, shared) + offsetof(SharedRange, segment), Kind::Segment}};
        case Op::DeregMr:
            return object(Kind::Mr);
        case Op::DestroyCompChannel:
            return object(Kind::Channel);
        case Op::CreateCq:
        case Op::ResizeCq:
            return {kContext,
                    {offsetof(CreateCqRequest, channel), Kind::Channel},
                    {offsetof(CreateCqRequest, handle), Kind::Cq}};
        case Op::DestroyCq:
            return object(Kind::Cq);
        case Op::CreateQp:
            return {kContext,
                    {offsetof(CreateQpRequest, pd), Kind::Pd},
                    {offsetof(CreateQpRequest, send_cq), Kind::Cq},
                    {offsetof(CreateQpRequest, recv_cq), Kind::Cq},
                    {offsetof(CreateQpRequest, xrcd), Kind::Xrcd}};
        case Op::ModifyQp:
            return {kContext, {offsetof(ModifyQpRequest, handle), Kind::Qp}};
        case Op::QueryQp:
        case Op::DestroyQp:
            return object(Kind::Qp);
        case Op::CreateSrq:
            return {kContext,
                    {offsetof(CreateSrqRequest, pd), Kind::Pd},
                    {offsetof(CreateSrqRequest, cq), Kind::Cq},
                    {offsetof(CreateSrqRequest, xrcd), Kind::Xrcd}};
        case Op::ModifySrq:
            return {kContext, {offsetof(ModifySrqRequest, handle), Kind::Srq}};
        case Op::QuerySrq:
        case Op::DestroySrq:
            return object(Kind::Srq);
        case Op::CreateAh:
            return {kContext, {offsetof(CreateAhRequest, pd), Kind::Pd}};
        case Op::DestroyAh:
            return object(Kind::Ah);
        case Op::AttachMcast:
        case Op::DetachMcast:
            return {kContext, {offsetof(McastRequest, qp), Kind::Qp}};
        case Op::DeallocMw:
            return object(Kind::Mw);
        case Op::CloseXrcd:
            return object(Kind::Xrcd);
        case Op::AdviseMr:
            return {kContext, {offsetof(AdviseMrRequest, pd), Kind::Pd}};
        case Op::AllocDm:
            return {kContext};
        case Op::FreeDm:
            return object(Kind::Dm);
        case Op::RegDmMr:
            return {kContext, {offsetof(RegDmMrRequest, pd), Kind::Pd}, {offsetof(RegDmMrRequest, dm), Kind::Dm}};
        case Op::OpenQp:
            return {kContext, {offsetof(OpenQpRequest, xrcd), Kind::Xrcd}, {offsetof(OpenQpRequest, qp_num), Kind::Qp}};
        case Op::CommandCm:
            return {{offsetof(CmCommandRequest, file), Kind::CmFile},
                    {offsetof(CmCommandRequest, extra), Kind::CmFile}};
        case Op::CloseCm:
            return {{offsetof(ObjectRequest, handle), Kind::CmFile}};
        case Op::CreateFlow:
            return {kContext, {offsetof(CreateFlowRequest, qp), Kind::Qp}};
        case Op::DestroyFlow:
        case Op::OpenGpus:
            return {kContext};
        case Op::RegDmaBufMr:
            return {kContext, {offsetof(RegDmaBufMrRequest, pd), Kind::Pd}};
        case Op::UseGpu:
        case Op::Hello:
        case Op::OpenDevice:
        case Op::QueryDevice:
        case Op::QueryPort:
        case Op::QueryGid:
        case Op::QueryPkey:
        case Op::ReadCounter:
        case Op::Explain:
        case Op::ReserveSlot:
        case Op::Resolve:
        case Op::UnshareMemory:
        case Op::kCount:
            return {};
    }
    return {};
}

/// What the first word of a successful reply is a handle of.
std::optional<Kind> kind_made_by(Op op) {
    static const std::map<Op, Kind> made = {
        {Op::OpenDevice, Kind::Context}, {Op::AllocPd, Kind::Pd},  {Op::RegMr, Kind::Mr},
        {Op::AllocNullMr, Kind::Mr},     {Op::RegDmMr, Kind::Mr},  {Op::CreateCompChannel, Kind::Channel},
        {Op::CreateCq, Kind::Cq},        {Op::CreateQp, Kind::Qp}, {Op::OpenQp, Kind::Qp},
        {Op::CreateSrq, Kind::Srq},      {Op::CreateAh, Kind::Ah}, {Op::AllocMw, Kind::Mw},
        {Op::OpenXrcd, Kind::Xrcd},      {Op::AllocDm, Kind::Dm},  {Op::OpenCm, Kind::CmFile}};
    const auto it = made.find(op);
    return it == made.end() ? std::nullopt : std::optional(it->second);
}

/// The handles that replies gave, also those that are gone since.
class Known {
  public:
    void learn(Op op, const std::vector<uint8_t>& reply) {
        const std::optional<Kind> kind = kind_made_by(op);
        protocol::ReplyHeader header;
        uint32_t handle = 0;
        if (!kind || reply.size() < sizeof header + sizeof handle) return;
        std::memcpy(static_cast<void*>(&header), reply.data(), sizeof header);
        std::memcpy(&handle, reply.data() + sizeof header, sizeof handle);
        if (header.error == 0) handles_[static_cast<size_t>(*kind)].push_back(handle);
    }
    /// Each handle's lowest byte says which one is meant; 0: the newest.
    void put(Op op, std::vector<uint8_t>& message) const {
        for (const Field& f : fields_of(op)) {
            const auto& known = handles_[static_cast<size_t>(f.kind)];
            if (known.empty() || f.offset + sizeof(uint32_t) > message.size()) continue;
            const uint32_t handle = known[known.size() - 1 - message[f.offset] % known.size()];
            std::memcpy(message.data() + f.offset, &handle, sizeof handle);
        }
    }

  private:
    std::array<std::vector<uint32_t>, static_cast<size_t>(Kind::Segment) + 1> handles_;
};

}  // namespace

#ifdef SIMVERBS_LIBFUZZER
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

/// Half of all changes put a message of an operation by name in front, behind or in between, with right handles.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
    if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
    const auto op = static_cast<Op>(1 + (seed >> 1) % (static_cast<unsigned>(Op::kCount) - 1));
    const size_t payload = std::min<size_t>(message_bytes(op) - sizeof(protocol::RequestHeader), 48);
    std::vector<uint8_t> message = {static_cast<uint8_t>(op), 1, static_cast<uint8_t>(payload)};
    for (size_t i = 0; i < payload; ++i)  // small numbers in words of four bytes
        message.push_back(i % 4 == 0 ? static_cast<uint8_t>((seed >> (8 + i % 16)) % 9) : uint8_t{0});
    if (size + message.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
    // Behind a whole message.
    size_t at = 0;
    for (unsigned skip = seed >> 24; skip > 0 && at + 3 <= size; --skip) at += 3U + data[at + 2];
    at = std::min(at, size);
    std::memmove(data + at + message.size(), data + at, size - at);
    std::memcpy(data + at, message.data(), message.size());
    return size + message.size();
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz::DetachedLab& detached = fuzz::DetachedLab::instance();
    server::Client& client = detached.lab().add_detached_client(0);
    const uint32_t process = client.process;
    fuzz::Bytes in(data, size);
    Known known;
    for (int messages = 0; messages < 64 && !in.empty(); ++messages) {
        protocol::RequestHeader header;
        header.op = static_cast<Op>(in.byte() % (static_cast<unsigned>(Op::kCount) + 2));
        const uint8_t mode = in.byte() % 4;
        const bool well_formed = mode != 3;
        const size_t payload = in.byte();
        const size_t bytes = well_formed ? message_bytes(header.op) : payload * 8;
        header.bytes = static_cast<uint16_t>(bytes);
        std::vector<uint8_t> message(bytes);
        const size_t from = well_formed ? sizeof header : 0;
        if (bytes > from) in.fill(message.data() + from, std::min(payload, bytes - from));
        if (well_formed) std::memcpy(message.data(), &header, sizeof header);
        if (mode == 1) known.put(header.op, message);
        const auto reply = server::handle_request(detached.lab(), client, message, detached.lab().engine().frontier());
        if (reply.hang_up) break;
        known.learn(header.op, reply.bytes);
        detached.run(2);
    }
    detached.lab().process_died(process, 0);
    detached.run(64);
    return 0;
}
