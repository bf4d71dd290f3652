// What condition variables need of mutexes.
#pragma once

#include <pthread.h>

namespace simverbs::client::process {

/// pthread_mutex_lock and _unlock of a thread that has the turn.
int lock_mutex(pthread_mutex_t* m);
int unlock_mutex(pthread_mutex_t* m);

}  // namespace simverbs::client::process
