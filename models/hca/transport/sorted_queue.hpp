// A queue of timed things that are nearly always pushed in order of time.
#pragma once

#include <cstdint>
#include <vector>

#include "models/hca/transport/fifo.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::hca {

/// Entries of equal time keep their order of pushing.
template <class T>
class SortedQueue {
  public:
    [[nodiscard]] sim::SimTime next_time() const noexcept {
        return fifo_.empty() ? sim::SimTime::max() : fifo_.front().at;
    }
    void push(sim::SimTime at, const T& value) {
        uint32_t place = fifo_.push({at, value});
        for (; place != fifo_.first() && fifo_.at(place - 1).at > at; --place) fifo_.at(place) = fifo_.at(place - 1);
        fifo_.at(place) = {at, value};
    }
    T pop() noexcept {
        const T value = fifo_.front().value;
        fifo_.pop();
        return value;
    }

  private:
    struct Entry {
        sim::SimTime at;
        T value;
    };
    Fifo<Entry> fifo_;
};

}  // namespace simverbs::hca
