// Pins the random numbers of libc to the lab's seed.
#pragma once

namespace simverbs::client::process {

/// Seeds rand(), random() and drand48() as if the program had seeded them. Called once, when the process has joined.
void seed_libc();

}  // namespace simverbs::client::process
