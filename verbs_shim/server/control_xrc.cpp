// XRC domains, and handles to QPs of others.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "verbs_shim/server/control.hpp"

namespace simverbs::server {

namespace {

/// The file behind a descriptor of the process: what makes two openings one domain.
int file_of(Call& call, int fd, hca::XrcdFile& file) {
    const UniqueFd mine(static_cast<int>(::syscall(SYS_pidfd_getfd, call.lab.pidfd_of(call.client.process), fd, 0)));
    struct stat st {};
    if (!mine.valid() || ::fstat(mine.get(), &st) != 0) return EBADF;
    file = {st.st_dev, st.st_ino};
    return 0;
}

}  // namespace

int open_xrcd(Call& call, const protocol::ObjectRequest& request, protocol::HandleReply& reply) {
    ContextObject* context = call.context(request.context);
    if (context == nullptr) return EINVAL;
    const auto fd = static_cast<int>(request.handle);
    const auto oflags = static_cast<uint32_t>(request.arg);
    hca::XrcdFile file;
    if (fd != -1) {
        if (const int error = file_of(call, fd, file); error != 0) return error;
    }
    const bool create = fd == -1 || (oflags & O_CREAT) != 0;
    const auto xrcd = context->hca->open_xrcd(call.by(*context), file, create, (oflags & O_EXCL) != 0);
    if (!xrcd.ok()) return xrcd.error;
    reply.handle = call.client.xrcds.add({request.context, xrcd.value});
    return reply.handle == 0 ? ENOMEM : 0;
}

int close_xrcd(Call& call, const protocol::ObjectRequest& request, protocol::ReplyHeader&) {
    const XrcdObject* xrcd = call.client.xrcds.find(request.handle);
    ContextObject* context = xrcd == nullptr ? nullptr : call.context(xrcd->context);
    if (context == nullptr) return EINVAL;
    const int error = context->hca->close_xrcd(call.by(*context), xrcd->xrcd);
    if (error == 0) call.client.xrcds.remove(request.handle);
    return error;
}

int open_qp(Call& call, const protocol::OpenQpRequest& request, protocol::OpenQpReply& reply) {
    ContextObject* context = call.context(request.context);
    const XrcdObject* xrcd = call.client.xrcds.find(request.xrcd);
    if (context == nullptr || xrcd == nullptr || xrcd->context != request.context) return EINVAL;
    const auto by = call.by(*context);
    if (const int error = context->hca->open_qp(by, request.qp_num, xrcd->xrcd); error != 0) return error;
    QpObject qp;
    qp.context = request.context;
    qp.qp_num = request.qp_num;
    qp.type = hca::QpType::XrcRecv;
    reply.handle = add_qp(call.client, std::move(qp));
    if (reply.handle != 0) return 0;
    (void)context->hca->destroy_qp({context->owner, call.now, nullptr}, request.qp_num);
    return ENOMEM;
}

}  // namespace simverbs::server
