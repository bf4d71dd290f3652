// What `simverbs explain WORD` knows: statuses, events and errnos of verbs and rdma_cm, as constant tables.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace simverbs::explain {

enum class Kind : uint8_t {
    CompletionStatus,  ///< enum ibv_wc_status
    AsyncEvent,        ///< enum ibv_event_type
    CmEvent,           ///< enum rdma_cm_event_type
    RejectReason,      ///< `status` of RDMA_CM_EVENT_REJECTED (IBTA 12.6.7.2)
    CallError,         ///< a call of libibverbs or librdmacm with the errno that it ends with
};

/// One possible reason, and what shows that it is this one and no other.
struct Cause {
    std::string_view why;
    std::string_view sign;  ///< how to tell it from the others, and what to do
};

/// One word that a user may ask for.
struct Topic {
    Kind kind = Kind::CompletionStatus;
    std::string_view name;   ///< as the headers write it; of a CallError: the call
    int number = 0;          ///< its value; of a CallError: the errno
    std::string_view error;  ///< of a CallError: the errno's name; else empty
    std::string_view text;   ///< what ibv_wc_status_str() and its like print; empty where nothing does
    std::string_view meaning;
    std::span<const Cause> causes;
    std::string_view after;  ///< what state things are in now; may be empty
};

/// Is each value from `first` to `last` there, once and in order?
[[nodiscard]] constexpr bool numbers_run_from(std::span<const Topic> topics, int first, int last) noexcept {
    for (const Topic& topic : topics)
        if (topic.number != first++) return false;
    return first == last + 1;
}

/// In the order of the enumeration, each value once.
[[nodiscard]] std::span<const Topic> completion_statuses() noexcept;
[[nodiscard]] std::span<const Topic> async_events() noexcept;
[[nodiscard]] std::span<const Topic> cm_events() noexcept;
[[nodiscard]] std::span<const Topic> reject_reasons() noexcept;
/// Sorted by call.
[[nodiscard]] std::span<const Topic> call_errors() noexcept;

}  // namespace simverbs::explain
