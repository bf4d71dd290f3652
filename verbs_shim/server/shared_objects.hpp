// The shared objects of the lab page as the server sees and bumps them.
#pragma once

#include <cstdint>

#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::server {

/// The slot of `key`, or nullptr if nobody has bumped it yet.
protocol::SharedObject* find_object(protocol::LabShared& lab, uint64_t key) noexcept;
/// The slot of `key`, made if it does not exist; nullptr if the table is full.
protocol::SharedObject* make_object(protocol::LabShared& lab, uint64_t key) noexcept;
/// Adds to its value, stamped `stamp_ps` (a stamp never goes back).
void bump_object(protocol::LabShared& lab, uint64_t key, int64_t stamp_ps, uint64_t by = 1) noexcept;
/// When its value grew beyond `seen`, as far as that is remembered; never later than its stamp.
int64_t changed_at(const protocol::LabShared& lab, const protocol::SharedObject& object, uint64_t seen) noexcept;
/// Ends every stream and listener that a process held last: its peers see the end at `stamp_ps`.
void end_objects_of(protocol::LabShared& lab, uint32_t process, int64_t stamp_ps) noexcept;

}  // namespace simverbs::server
