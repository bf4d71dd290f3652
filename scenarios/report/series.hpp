// What was sampled over time, thinned out to what a chart can show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::report {

/// One line of a chart.
struct Series {
    std::string name;
    std::vector<double> values;  ///< one for each of SampledSeries::times_us
};

/// Lines of one kind, the most active first.
struct SeriesPanel {
    std::string id;        ///< "queue"
    std::string title;     ///< "Queues"
    std::string unit;      ///< "B", "b/s", "share" or "1/s"
    std::string note;      ///< what a value is
    uint32_t sampled = 0;  ///< how many there are; `series` may have fewer
    std::vector<Series> series;
};

struct SampledSeries {
    std::vector<double> times_us;
    std::vector<SeriesPanel> panels;  ///< only those with something in them
};

/// How much of a run's samples a page takes.
struct SeriesBudget {
    size_t numbers = 200'000;  ///< in all panels together
    size_t points = 2'000;     ///< of one series
    size_t series = 48;        ///< of one panel
};

/// Queues and buffers keep the peak of each interval, rates their average over it.
[[nodiscard]] SampledSeries thin_out(const run::RunResult& result, const SeriesBudget& budget);

}  // namespace simverbs::scenarios::report
