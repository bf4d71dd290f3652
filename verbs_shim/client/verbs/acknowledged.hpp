// Destroying an object waits until every event that was handed out for it has been acknowledged, as the real library
// does. The waits go through pthread's functions, which know the turn protocol.
#pragma once

#include <pthread.h>

#include <cstdint>

namespace simverbs::client::verbs {

inline void wait_acknowledged(pthread_mutex_t& mutex, pthread_cond_t& cond, const uint32_t& completed,
                              const uint32_t& handed_out) {
    pthread_mutex_lock(&mutex);
    while (completed != handed_out) pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
}

inline void acknowledge(pthread_mutex_t& mutex, pthread_cond_t& cond, uint32_t& completed, uint32_t by) {
    pthread_mutex_lock(&mutex);
    completed += by;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
}

inline void hand_out(pthread_mutex_t& mutex, uint32_t& handed_out) {
    pthread_mutex_lock(&mutex);
    ++handed_out;
    pthread_mutex_unlock(&mutex);
}

}  // namespace simverbs::client::verbs
