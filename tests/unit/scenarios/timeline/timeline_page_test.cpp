#include "scenarios/timeline/timeline_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "scenarios/timeline/timeline_data.hpp"
#include "tests/report/sample_timelines.hpp"

namespace simverbs::scenarios::timeline {
namespace {

TEST(TimelinePage, SaysNothingOfWhatIsLeftOutWhereNothingIs) {
    EXPECT_EQ(left_out_text(rich_timeline(), "--timeline-packets"), "");
    EXPECT_EQ(render_timeline(rich_timeline(), sample_facts()).find("Not all of the run is here"), std::string::npos);
}

TEST(TimelinePage, SaysHowMuchIsLeftOutAndWhatShowsIt) {
    EXPECT_EQ(
        left_out_text(large_timeline(100), "--timeline-packets"),
        "It has the first 100 of 900 packets, up to 829.000 us. What is left out has 1 packet that faults or switches "
        "acted on, and 200 retransmissions. --timeline-packets 900 shows all. 12,345 later work requests are left "
        "out.");
}

TEST(TimelinePage, IsTheSameForTheSameTimeline) {
    EXPECT_EQ(render_timeline(rich_timeline(), sample_facts()), render_timeline(rich_timeline(), sample_facts()));
}

TEST(TimelinePage, AsksForNothingAndNoNameEndsItsScripts) {
    const std::string page = render_timeline(hostile_timeline(), sample_facts());
    EXPECT_EQ(page.find("throw 2</script>"), std::string::npos);
    EXPECT_EQ(page.find("src=\"http"), std::string::npos);
    EXPECT_EQ(page.find("@DATA@"), std::string::npos);
}

TEST(TimelineData, NamesPortsOfHostsThatHaveSeveral) {
    simverbs::timeline::Timeline t;
    t.ports = {{"h0", "mlx5_0", 1}, {"h1", "mlx5_0", 1}, {"h1", "mlx5_1", 2}};
    EXPECT_EQ(port_name(t, 0), "h0");
    EXPECT_EQ(port_name(t, 2), "h1 mlx5_1/2");
}

TEST(TimelineData, TellsWhatBecameOfPackets) {
    const auto data = timeline_data(rich_timeline());
    const auto& packets = data["packets"];
    const auto lost = std::ranges::find_if(packets, [](const auto& p) { return p["fate"] == "lost"; });
    ASSERT_NE(lost, packets.end());
    EXPECT_EQ((*lost)["name"], "RC_SEND_ONLY");
    EXPECT_EQ((*lost)["kind"], "request");
    EXPECT_EQ((*lost)["flags"], "AckReq");
    EXPECT_FALSE(lost->contains("again")) << "what is false is left out";
    const auto kinds = [&](const char* kind) {
        return std::ranges::count_if(packets, [&](const auto& p) { return p["kind"] == kind; });
    };
    EXPECT_EQ(kinds("mad"), 3);
    EXPECT_EQ(kinds("nak"), 2);
    EXPECT_EQ(kinds("rnr"), 1);
    EXPECT_EQ(data["states"][0], (nlohmann::json{800'000'000, 0, "RESET", true}));
}

}  // namespace
}  // namespace simverbs::scenarios::timeline
