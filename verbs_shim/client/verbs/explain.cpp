#include "verbs_shim/client/verbs/explain.hpp"

#include <cstdarg>
#include <cstdio>

#include "verbs_shim/client/connection/connection.hpp"

namespace simverbs::client::verbs {

int explain(int error, const char* format, ...) {
    const auto* const lab = connection::lab();
    if (lab == nullptr || lab->explain == 0 || connection::server_gone()) return error;
    auto request = connection::make_request<protocol::ExplainRequest>(protocol::Op::Explain);
    va_list args;
    va_start(args, format);
    std::vsnprintf(request.text, sizeof request.text, format, args);
    va_end(args);
    struct {
        protocol::ReplyHeader h;
    } reply;
    connection::request(&request, &reply, sizeof reply);
    return error;
}

}  // namespace simverbs::client::verbs
