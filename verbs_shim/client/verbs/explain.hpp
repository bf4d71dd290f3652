// --explain: tells the user why a call failed in the client, in one or two plain sentences. The server tells about the
// calls that it refuses itself.
#pragma once

namespace simverbs::client::verbs {

/// Sends the text to the lab if somebody wants to read it. printf format; returns `error`, so that a failing call can
/// end with `return explain(EINVAL, "…")`.
int explain(int error, const char* format, ...) __attribute__((format(printf, 2, 3), cold));

}  // namespace simverbs::client::verbs
