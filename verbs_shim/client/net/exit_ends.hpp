// What the end of a process, a fork or an exec means for the streams that it holds open.
#pragma once

namespace simverbs::client::net {

/// The process ends: readers at the other ends see the end of the stream.
void process_ends() noexcept;
/// The process becomes another program: close-on-exec descriptors go.
void process_execs() noexcept;
/// A new program image has its first turn: it holds the pipes that it inherited.
void image_arrived() noexcept;

}  // namespace simverbs::client::net
