// Named counters, owned by the component that counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simverbs::sim {

/// A component's counters as (name, pointer to value): the component increments plain integers, readers list them.
class CounterSet {
  public:
    struct Counter {
        std::string name;
        const uint64_t* value;
    };
    /// `value` must outlive the set.
    void add(std::string_view name, const uint64_t& value) { counters_.push_back({std::string(name), &value}); }
    [[nodiscard]] const std::vector<Counter>& counters() const noexcept { return counters_; }
    /// Value of a counter, 0 if there is none of that name.
    [[nodiscard]] uint64_t value(std::string_view name) const noexcept {
        for (const auto& c : counters_)
            if (c.name == name) return *c.value;
        return 0;
    }

  private:
    std::vector<Counter> counters_;
};

}  // namespace simverbs::sim
