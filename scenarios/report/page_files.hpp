// The files that pages are made of, as they were when simverbs was built (embed_files.py).
#pragma once

#include <string_view>

namespace simverbs::scenarios::report {

extern const std::string_view kPageTemplate;  ///< page.html.in
extern const std::string_view kPageStyle;     ///< page.css
extern const std::string_view kReportBody;    ///< report.html.in: the sections that the script fills
extern const std::string_view kReportScript;  ///< of script/*.js, one after the other in one function
extern const std::string_view kCompareBody;   ///< compare.html.in: the charts of runs side by side
extern const std::string_view kCompareScript;
extern const std::string_view kTimelineBody;   ///< timeline.html.in: the diagram of a timeline and its tables
extern const std::string_view kTimelineStyle;  ///< timeline.css: what it needs beside page.css
extern const std::string_view kTimelineScript;
extern const std::string_view kChartLibrary;  ///< Chart.js with its licence's notice; "" in a build without it

}  // namespace simverbs::scenarios::report
