// Messages of a lying program to the control path. An input is a list of messages: operation, mode, payload length,
// payload. Mode 0 makes the header right and the length that of the operation, so that handlers are reached.

#include <sys/types.h>

#include <algorithm>
#include <cstring>
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
        case Op::kCount:
            return sizeof(protocol::ObjectRequest);
    }
    return sizeof(protocol::RequestHeader);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz::DetachedLab& detached = fuzz::DetachedLab::instance();
    server::Client& client = detached.lab().add_detached_client(0);
    const uint32_t process = client.process;
    fuzz::Bytes in(data, size);
    for (int messages = 0; messages < 64 && !in.empty(); ++messages) {
        protocol::RequestHeader header;
        header.op = static_cast<Op>(in.byte() % (static_cast<unsigned>(Op::kCount) + 2));
        const bool well_formed = in.byte() % 4 != 3;
        const size_t payload = in.byte();
        const size_t bytes = well_formed ? message_bytes(header.op) : payload * 8;
        header.bytes = static_cast<uint16_t>(bytes);
        std::vector<uint8_t> message(bytes);
        const size_t from = well_formed ? sizeof header : 0;
        if (bytes > from) in.fill(message.data() + from, std::min(payload, bytes - from));
        if (well_formed) std::memcpy(message.data(), &header, sizeof header);
        const auto reply = server::handle_request(detached.lab(), client, message, detached.lab().engine().frontier());
        if (reply.hang_up) break;
        detached.run(2);
    }
    detached.lab().process_died(process, 0);
    detached.run(64);
    return 0;
}
