// simverbs explain: every status, event and errno is found under the names that people have for it.
#include "tools/explain/look_up.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <string>

namespace simverbs::explain {

namespace {

TEST(Explain, StatusesAndEventsCarryTheTextThatTheLibraryPrints) {
    for (const Topic& topic : completion_statuses())
        EXPECT_EQ(topic.text, ibv_wc_status_str(static_cast<ibv_wc_status>(topic.number))) << topic.name;
    for (const Topic& topic : async_events())
        EXPECT_EQ(topic.text, ibv_event_type_str(static_cast<ibv_event_type>(topic.number))) << topic.name;
    for (const Topic& topic : cm_events())
        EXPECT_EQ(topic.text, rdma_event_str(static_cast<rdma_cm_event_type>(topic.number))) << topic.name;
}

TEST(Explain, AStatusIsFoundByNameWithAndWithoutPrefixByNumberAndByText) {
    for (const std::string question : {"IBV_WC_RETRY_EXC_ERR", "WC_RETRY_EXC_ERR", "wc_retry_exc_err", "RETRY_EXC_ERR",
                                       "transport retry counter exceeded"}) {
        const auto found = look_up(question);
        ASSERT_EQ(found.size(), 1u) << question;
        EXPECT_EQ(found[0]->number, IBV_WC_RETRY_EXC_ERR);
    }
    const auto by_number = look_up("status 12");
    ASSERT_FALSE(by_number.empty());
    EXPECT_EQ(by_number[0]->name, "IBV_WC_RETRY_EXC_ERR");
}

TEST(Explain, ACallIsFoundWithAllItsErrorsAndWithOne) {
    EXPECT_GE(look_up("ibv_modify_qp").size(), 3u);
    for (const std::string question : {"ibv_modify_qp EINVAL", "ibv_modify_qp: einval", "ibv_modify_qp() EINVAL"}) {
        const auto found = look_up(question);
        ASSERT_EQ(found.size(), 1u) << question;
        EXPECT_EQ(found[0]->number, EINVAL);
    }
    const auto busy = look_up("EBUSY");
    EXPECT_GE(busy.size(), 5u);
    for (const Topic* topic : busy) EXPECT_EQ(topic->number, EBUSY);
}

TEST(Explain, NothingIsFoundUnderNonsenseAndThatIsNoCrash) {
    for (const std::string question : {"", " ", "IBV_WC_", "99999999999999999999", "ibv_modify_qp EBANANA", "\xff\xfe"})
        EXPECT_TRUE(look_up(question).empty()) << question;
}

TEST(Explain, EveryTopicSaysWhatItMeansAndWhyItComesInLinesThatFit) {
    std::set<const Topic*> seen;
    for (const std::string_view word : known_words()) {
        const auto found = look_up(word);
        EXPECT_FALSE(found.empty()) << word;
        seen.insert(found.begin(), found.end());
    }
    const size_t all = completion_statuses().size() + async_events().size() + cm_events().size() +
                       reject_reasons().size() + call_errors().size();
    EXPECT_EQ(seen.size(), all);
    for (const Topic* topic : seen) {
        EXPECT_FALSE(topic->meaning.empty()) << topic->name;
        EXPECT_FALSE(topic->causes.empty()) << topic->name;
        for (const Cause& cause : topic->causes) EXPECT_FALSE(cause.why.empty() || cause.sign.empty()) << topic->name;
        const std::string text = to_text(*topic, 90);
        for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
            EXPECT_LE(end - at, 90u) << text.substr(at, end - at);
    }
}

TEST(Explain, TheErrnosOfCallsAreThisMachines) {
    for (const Topic& topic : call_errors()) EXPECT_EQ(topic.error, strerrorname_np(topic.number)) << topic.name;
}

TEST(Explain, TheListNamesEverything) {
    const std::string list = contents();
    for (const Topic& topic : completion_statuses()) EXPECT_THAT(list, testing::HasSubstr(topic.name));
    for (const Topic& topic : call_errors()) EXPECT_THAT(list, testing::HasSubstr(topic.error));
}

}  // namespace

}  // namespace simverbs::explain
