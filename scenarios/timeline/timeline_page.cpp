#include "scenarios/timeline/timeline_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/report/html_table.hpp"
#include "scenarios/report/number_text.hpp"
#include "scenarios/report/page.hpp"
#include "scenarios/report/page_files.hpp"
#include "scenarios/report/report_sections.hpp"
#include "scenarios/timeline/timeline_data.hpp"

namespace simverbs::scenarios::timeline {

using report::Cell;
using report::count_text;
using report::escape_html;
using simverbs::timeline::EventKind;
using simverbs::timeline::Packet;

namespace {

std::string plural(uint64_t count, const char* one, const char* many) {
    return fmt::format("{} {}", count_text(count), count == 1 ? one : many);
}

uint64_t packets_kept(const Timeline& t) {
    // Copies that faults made were never sent.
    return static_cast<uint64_t>(
        std::ranges::count_if(t.packets, [](const Packet& p) { return !p.treatment.duplicate; }));
}

std::string card(const char* title, uint64_t count, const char* note, const char* style_if_any) {
    return fmt::format("<div class=\"card{}\"><dt>{}</dt><dd><span class=\"value\">{}</span>{}</dd></div>\n",
                       count > 0 ? style_if_any : "", title, count_text(count),
                       *note == '\0' ? "" : fmt::format("<span class=\"note\">{}</span>", note));
}

std::string cards(const Timeline& t) {
    const auto events = [&](EventKind kind) {
        return static_cast<uint64_t>(std::ranges::count(t.events, kind, &simverbs::timeline::Event::kind));
    };
    const bool is_cut = t.cut.has_value();
    std::string out = "<dl class=\"cards\">\n";
    out += card("Packets", packets_kept(t), is_cut ? "shown here" : "", "");
    out += card("Faults and discards", events(EventKind::Fault) + events(EventKind::Discard), "", " bad");
    out += card("NAKs", events(EventKind::Nak), "", " warn");
    out += card("RNR NAKs", events(EventKind::RnrNak), "", " warn");
    out += card("ACK timeouts", events(EventKind::AckTimeout), "", " warn");
    out += card("Retransmissions", events(EventKind::Retransmission), "", " warn");
    out += card("Work requests", t.work.size(), "", "");
    out += card("Error completions", events(EventKind::ErrorCompletion), "", " bad");
    return out + "</dl>\n";
}

std::string header_of(const Timeline& t, const TimelineFacts& facts) {
    std::string out =
        fmt::format("<header>\n<p class=\"kind\">simverbs: timeline</p>\n<h1>{}</h1>\n<dl class=\"facts\">",
                    escape_html(facts.title));
    for (const auto& [name, value] : facts.facts)
        out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape_html(name), escape_html(value));
    out += fmt::format("<div><dt>simulated time</dt><dd>{}</dd></div></dl>\n", report::time_text(t.end));
    if (const std::string text = left_out_text(t, facts.how_to_keep_more); !text.empty())
        out += fmt::format("<p class=\"verdict left-out\"><strong>Not all of the run is here.</strong> {}</p>\n",
                           escape_html(text));
    return out + "</header>\n";
}

std::string programs_of(const TimelineFacts& facts) {
    if (facts.programs.empty()) return {};
    std::vector<std::vector<Cell>> rows;
    for (const auto& [label, command] : facts.programs) rows.push_back({{label, ""}, {command, "long"}});
    return report::section("programs", "Programs",
                           report::html_table("Programs", {{"Host", ""}, {"Command", ""}}, rows));
}

}  // namespace

std::string left_out_text(const Timeline& t, const std::string& how_to_keep_more) {
    std::string out;
    if (t.cut) {
        const uint64_t kept = packets_kept(t);
        out = fmt::format("It has the first {} of {} packets, up to {:.3f} us. ", count_text(kept),
                          count_text(t.packets_sent), static_cast<double>(t.cut->in_ps()) * 1e-6);
        if (t.faults_left_out + t.retransmissions_left_out > 0)
            out += fmt::format("What is left out has {} that faults or switches acted on, and {}. ",
                               plural(t.faults_left_out, "packet", "packets"),
                               plural(t.retransmissions_left_out, "retransmission", "retransmissions"));
        out += fmt::format("{} {} shows all. ", how_to_keep_more, t.packets_sent);
    }
    if (t.work_left_out > 0)
        out +=
            fmt::format("{} left out. ", plural(t.work_left_out, "later work request is", "later work requests are"));
    if (!out.empty()) out.pop_back();
    return out;
}

std::string render_timeline(const Timeline& t, const TimelineFacts& facts) {
    const std::string body = header_of(t, facts) + "<main>\n" + cards(t) + std::string(report::kTimelineBody) +
                             programs_of(facts) + "</main>\n";
    const std::string style = std::string(report::kPageStyle) + std::string(report::kTimelineStyle);
    return report::fill_page({.html_template = report::kPageTemplate,
                              .title = facts.title + " \xE2\x80\x93 timeline \xE2\x80\x93 simverbs",
                              .style = style,
                              .body = body,
                              .data = report::script_json(timeline_data(t)),
                              .library = report::kChartLibrary,
                              .script = report::kTimelineScript});
}

}  // namespace simverbs::scenarios::timeline
