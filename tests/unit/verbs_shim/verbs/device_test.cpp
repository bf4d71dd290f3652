#include <arpa/inet.h>
#include <dlfcn.h>

#include <cerrno>
#include <cstring>

#include "tests/unit/verbs_shim/verbs/fixture.hpp"

extern "C" int ibv_query_gid_type(ibv_context* context, uint8_t port_num, unsigned index, int* type);

namespace simverbs::test {
namespace {

TEST_F(VerbsTest, TheDeviceLooksLikeARealOne) {
    ibv_device* const d = context->device;
    EXPECT_STREQ(ibv_get_device_name(d), "mlx5_0");
    EXPECT_STREQ(d->dev_name, "uverbs0");
    EXPECT_STREQ(d->dev_path, "/sys/class/infiniband_verbs/uverbs0");
    EXPECT_STREQ(d->ibdev_path, "/sys/class/infiniband/mlx5_0");
    EXPECT_EQ(ibv_get_device_guid(d), 0x0102030405060708U);
    const auto* const behind = reinterpret_cast<const uint8_t*>(d + 1);
    for (size_t i = 0; i < 4096; ++i) ASSERT_EQ(behind[i], 0) << "libmlx5 looks for its own fields there";
}

TEST_F(VerbsTest, EveryOperationPointerIsFilled) {
    const verbs_context* const v = verbs_get_ctx(context);
    ASSERT_NE(v, nullptr);
    EXPECT_EQ(v->sz, sizeof(verbs_context));
    const auto* const words = reinterpret_cast<void* const*>(v);
    const size_t count = offsetof(verbs_context, _ABI_placeholder3) / sizeof(void*);
    for (size_t i = 0; i < count; ++i) {
        if (i * sizeof(void*) == offsetof(verbs_context, priv)) continue;
        EXPECT_NE(words[i], nullptr) << "verbs_context, word " << i;
    }
    const auto* const ops = reinterpret_cast<void* const*>(&context->ops);
    for (size_t i = 0; i < sizeof(ibv_context_ops) / sizeof(void*); ++i)
        EXPECT_NE(ops[i], nullptr) << "ops, word " << i;
}

TEST_F(VerbsTest, WhatIsNotSupportedAnswersEopnotsupp) {
    ibv_wq_init_attr work_queue{};
    work_queue.wq_type = IBV_WQT_RQ;
    work_queue.pd = pd;
    work_queue.cq = cq;
    work_queue.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
    work_queue.create_flags = IBV_WQ_FLAGS_CVLAN_STRIPPING;
    errno = 0;
    EXPECT_EQ(ibv_create_wq(context, &work_queue), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
    ibv_counters_init_attr counters{};
    errno = 0;
    EXPECT_EQ(ibv_create_counters(context, &counters), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
    ibv_alloc_dm_attr memory{4096, 0, 0};
    errno = 0;
    EXPECT_EQ(ibv_alloc_dm(context, &memory), nullptr) << "the server refuses";
    EXPECT_EQ(errno, EOPNOTSUPP);
    errno = 0;
    EXPECT_EQ(ibv_alloc_mw(pd, IBV_MW_TYPE_1), nullptr) << "the server refuses";
    EXPECT_EQ(errno, EOPNOTSUPP);
    errno = 0;
    EXPECT_EQ(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, 3, 0), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
    errno = 0;
    EXPECT_EQ(ibv_import_pd(context, 1), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(VerbsTest, AParentDomainHoldsItsPdAndItsThreadDomain) {
    ibv_td_init_attr none{};
    ibv_td* const td = ibv_alloc_td(context, &none);
    ASSERT_NE(td, nullptr);
    ibv_pd* const plain = ibv_alloc_pd(context);
    ibv_parent_domain_init_attr attr{};
    attr.pd = plain;
    attr.td = td;
    ibv_pd* const parent = ibv_alloc_parent_domain(context, &attr);
    ASSERT_NE(parent, nullptr);
    EXPECT_EQ(parent->handle, plain->handle);
    EXPECT_EQ(ibv_dealloc_pd(plain), EBUSY);
    EXPECT_EQ(ibv_dealloc_td(td), EBUSY);
    ibv_cq_init_attr_ex with_parent{};
    with_parent.cqe = 4;
    with_parent.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
    with_parent.parent_domain = plain;
    EXPECT_EQ(ibv_create_cq_ex(context, &with_parent), nullptr) << "a PD is no parent domain";
    with_parent.parent_domain = parent;
    ibv_cq_ex* const made = ibv_create_cq_ex(context, &with_parent);
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(made)), 0);
    EXPECT_EQ(ibv_dealloc_pd(parent), 0);
    EXPECT_EQ(ibv_dealloc_td(td), 0);
    EXPECT_EQ(ibv_dealloc_pd(plain), 0);
}

TEST_F(VerbsTest, ModerationAndAdviceKnowTheirRanges) {
    ibv_modify_cq_attr moderation{};
    moderation.attr_mask = IBV_CQ_ATTR_MODERATE;
    moderation.moderate = {16, 0xFFF};
    EXPECT_EQ(ibv_modify_cq(cq, &moderation), 0);
    moderation.moderate.cq_period = 0x1000;
    EXPECT_EQ(ibv_modify_cq(cq, &moderation), EINVAL);
    moderation.attr_mask = 1U << 30;
    EXPECT_EQ(ibv_modify_cq(cq, &moderation), EINVAL);
    EXPECT_EQ(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, nullptr, 0), EINVAL);
    ibv_sge range{0, 8, 1};
    EXPECT_EQ(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 1U << 8, &range, 1), EINVAL);
    EXPECT_EQ(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, &range, 1), 0);
}

TEST_F(VerbsTest, QueriesAnswerInTheirOwnConventions) {
    ibv_device_attr_ex attr;
    EXPECT_EQ(ibv_query_device_ex(context, nullptr, &attr), 0);
    EXPECT_EQ(attr.orig_attr.max_qp_wr, 32768);
    ibv_port_attr port;
    EXPECT_EQ(ibv_query_port(context, 1, &port), 0);
    EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
    __be16 pkey = 0;
    EXPECT_EQ(ibv_query_pkey(context, 1, 0, &pkey), 0);
    EXPECT_EQ(pkey, 0xFFFF);
    EXPECT_EQ(ibv_get_pkey_index(context, 1, 0xFFFF), 0);
    EXPECT_EQ(ibv_get_pkey_index(context, 1, 0x1234), -1);
    ibv_gid_entry entries[8];
    EXPECT_EQ(ibv_query_gid_table(context, entries, 8, 0), 2) << "empty entries are left out";
    EXPECT_EQ(entries[1].gid_type, static_cast<uint32_t>(IBV_GID_TYPE_ROCE_V2));
    EXPECT_EQ(ibv_query_gid_table(context, entries, 1, 0), -EINVAL);
    EXPECT_EQ(ibv_query_gid_ex(context, 1, 3, entries, 0), ENODATA);
    int type = -1;
    EXPECT_EQ(ibv_query_gid_type(context, 1, 1, &type), 0);
    EXPECT_EQ(type, 1);
    server().next_error = EINVAL;
    ibv_gid gid;
    errno = 0;
    EXPECT_EQ(ibv_query_gid(context, 1, 77, &gid), -1);
    EXPECT_EQ(errno, EINVAL);
    ibv_values_ex values{};
    values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
    client::fake::g_turn.clock_ps = 7'000'000;
    EXPECT_EQ(ibv_query_rt_values_ex(context, &values), 0);
    EXPECT_EQ(values.raw_clock.tv_nsec, 7500) << "7 us, and 0.5 us for reading the register";
}

TEST_F(VerbsTest, ARefusedRequestGivesItsErrno) {
    server().next_error = ENOMEM;
    errno = 0;
    EXPECT_EQ(ibv_alloc_pd(context), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    ibv_qp* const qp = make_qp(IBV_QPS_RESET);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTS;
    server().next_error = EINVAL;
    EXPECT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
    EXPECT_EQ(qp->state, IBV_QPS_RESET);
}

TEST_F(VerbsTest, MemoryThatOthersMayWriteMustBeWritableLocally) {
    char bytes[64];
    errno = 0;
    EXPECT_EQ(ibv_reg_mr(pd, bytes, sizeof bytes, int{IBV_ACCESS_REMOTE_WRITE}), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_TRUE(explained("IBV_ACCESS_LOCAL_WRITE"));
    ibv_mr* const mr = ibv_reg_mr(pd, bytes, sizeof bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    ASSERT_NE(mr, nullptr);
    EXPECT_NE(mr->lkey, mr->rkey);
    const uint32_t old_key = mr->lkey;
    EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, bytes, 32, 0), 0);
    EXPECT_EQ(mr->length, 32U);
    EXPECT_NE(mr->lkey, old_key);
    EXPECT_EQ(ibv_rereg_mr(mr, 0, nullptr, nullptr, 0, 0), IBV_REREG_MR_ERR_INPUT);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(VerbsTest, TheWayBackComesFromTheIpv4HeaderInFrontOfTheData) {
    uint8_t area[40] = {};
    const uint8_t ip[20] = {0x45, 0x08, 0, 60, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1};
    std::memcpy(area + 20, ip, sizeof ip);
    uint32_t sum = 0;
    for (int i = 20; i < 40; i += 2) sum += static_cast<uint32_t>(area[i]) << 8 | area[i + 1];
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    area[30] = static_cast<uint8_t>(~sum >> 8);
    area[31] = static_cast<uint8_t>(~sum);
    ibv_wc wc{};
    wc.wc_flags = IBV_WC_GRH;
    wc.sl = 2;
    ibv_ah_attr attr;
    ASSERT_EQ(ibv_init_ah_from_wc(context, 1, &wc, reinterpret_cast<ibv_grh*>(area), &attr), 0);
    EXPECT_EQ(attr.is_global, 1);
    EXPECT_EQ(attr.sl, 2);
    EXPECT_EQ(attr.grh.sgid_index, 1) << "the RoCE v2 entry of 10.0.0.1";
    EXPECT_EQ(attr.grh.traffic_class, 8);
    const uint8_t from[4] = {10, 0, 0, 2};
    EXPECT_EQ(std::memcmp(attr.grh.dgid.raw + 12, from, 4), 0);
    ibv_ah* const ah = ibv_create_ah_from_wc(pd, &wc, reinterpret_cast<ibv_grh*>(area), 1);
    ASSERT_NE(ah, nullptr);
    EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST(Texts, AreThoseOfTheRealLibrary) {
    void* const real = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    if (real == nullptr) GTEST_SKIP() << "no libibverbs.so.1 to compare with";
    const auto same = [&](const char* name, const char* (*ours)(int), int last) {
        const auto theirs = reinterpret_cast<const char* (*)(int)>(dlsym(real, name));
        for (int i = -2; i <= last; ++i) EXPECT_STREQ(ours(i), theirs(i)) << name << " of " << i;
    };
    same("ibv_wc_status_str", reinterpret_cast<const char* (*)(int)>(ibv_wc_status_str), 26);
    same("ibv_event_type_str", reinterpret_cast<const char* (*)(int)>(ibv_event_type_str), 22);
    same("ibv_port_state_str", reinterpret_cast<const char* (*)(int)>(ibv_port_state_str), 8);
    same("ibv_node_type_str", reinterpret_cast<const char* (*)(int)>(ibv_node_type_str), 10);
    const auto mult = reinterpret_cast<int (*)(int)>(dlsym(real, "ibv_rate_to_mult"));
    const auto mbps = reinterpret_cast<int (*)(int)>(dlsym(real, "ibv_rate_to_mbps"));
    const auto from_mult = reinterpret_cast<int (*)(int)>(dlsym(real, "mult_to_ibv_rate"));
    for (int i = 0; i < 30; ++i) {
        EXPECT_EQ(ibv_rate_to_mult(static_cast<ibv_rate>(i)), mult(i)) << "rate " << i;
        EXPECT_EQ(ibv_rate_to_mbps(static_cast<ibv_rate>(i)), mbps(i)) << "rate " << i;
    }
    for (int i = -1; i < 500; ++i) EXPECT_EQ(static_cast<int>(mult_to_ibv_rate(i)), from_mult(i)) << "mult " << i;
    EXPECT_EQ(mbps_to_ibv_rate(10000), IBV_RATE_10_GBPS);
}

}  // namespace
}  // namespace simverbs::test
