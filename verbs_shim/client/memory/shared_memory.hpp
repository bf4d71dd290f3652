// Registered memory that the server maps as well, so that DMA into it is a plain copy: large registered ranges of
// private anonymous memory are replaced, in place, by a memfd with the same bytes. The program sees no difference:
// fork, madvise and mremap are made to treat it as what it was.
#pragma once

#include <cstddef>
#include <cstdint>

#include "verbs_shim/protocol/messages.hpp"

namespace simverbs::client::memory {

/// A registration that is being made: decides whether its memory can be shared, and shares it.
class Registration {
  public:
    Registration(const void* address, size_t length);
    /// The server has answered: what only the request needed is given back. Without keep() the registration failed.
    ~Registration();
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

    /// For the request; segment 0 if nothing is shared: the server then copies through the kernel, always correct.
    [[nodiscard]] const protocol::SharedRange& range() const { return range_; }
    /// The registration was made; what to hand to deregistered() later.
    uint32_t keep();

  private:
    const void* address_;
    size_t length_;
    protocol::SharedRange range_;
    bool kept_ = false;
};

/// A registration has ended; `segment` is what keep() said.
void deregistered(const void* address, size_t length, uint32_t segment);

}  // namespace simverbs::client::memory
