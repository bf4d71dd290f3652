// The data path downward: doorbells and WQEs out of a process's arena into the HCAs.
#pragma once

#include "sim/sim_time.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::server {

/// Takes everything that a process has posted since the last time. Every index, count and length comes from memory
/// that the process can write at any time: it is copied once and checked. Stamps are clamped into [earliest, latest].
/// Also tells the HCAs which completions the program has taken. Returns the number of doorbells.
uint64_t drain_doorbells(Lab& lab, Client& client, sim::SimTime earliest, sim::SimTime latest);

/// Only the second half: completions that were taken.
void note_consumed(Client& client);

}  // namespace simverbs::server
