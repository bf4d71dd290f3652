"""Which of rdma-core's tests are skipped on a simulated adapter, and why. docs/fidelity.md says the same in short.

A pattern names tests; a test that a pattern names may pass where the machine has what it lacks elsewhere. A test that is
named in full must be skipped.
"""

MLX5 = "the direct interface to mlx5 adapters (mlx5dv): a simulated adapter is no kernel mlx5 device"
RAW = "raw packet QPs are of Ethernet"
MACHINE = "depends on the machine, not on the simulated adapter"

_COMMON = {
    "test_mlx5_*": MLX5,
    "test_efa*": "another vendor's adapters",
    "test_cuda_dmabuf.*": MACHINE + ": CUDA",
    "test_mr.DmaBuf*": MACHINE + ": a GPU that exports its memory",
    "test_odp.OdpTestCase.test_odp_rc_huge_*": MACHINE + ": huge pages",
    "test_parent_domain.ParentDomainTrafficTest.test_huge_page_*": MACHINE + ": huge pages",
    "test_device.SharedDMTest.test_import_dm": "a context cannot be imported: there is no kernel descriptor behind it",
    "test_shared_pd.SharedPDTestCase.test_imported_rc_ex_rdma_write":
        "a context cannot be imported: there is no kernel descriptor behind it",
    "test_tag_matching.TMTest.test_tm_no_tag": "no tag matching",
    "test_tag_matching.TMTest.test_tm_rndv": "no tag matching",
    "test_tag_matching.TMTest.test_tm_traffic": "no tag matching",
    "test_tag_matching.TMTest.test_tm_unexpected_tag": "no tag matching",
}

ROCE = _COMMON
INFINIBAND = {
    **_COMMON,
    "test_addr.AHTest.test_create_ah_roce": "RoCE only",
    "test_flow.FlowTest.test_eth_spec_flow_traffic": RAW,
    "test_flow.FlowTest.test_ipv4_spec_flow_traffic": RAW,
    "test_flow.FlowTest.test_ipv6_spec_flow_traffic": RAW,
    "test_flow.FlowTest.test_tcp_spec_flow_traffic": RAW,
    "test_flow.FlowTest.test_udp_spec_flow_traffic": RAW,
    "test_rss_traffic.RSSTrafficTest.test_rss_traffic": RAW,
    "test_qp.QPTest.test_create_raw_qp_ex_no_attr": RAW,
    "test_qp.QPTest.test_create_raw_qp_ex_with_attr": RAW,
    "test_qp.QPTest.test_create_raw_qp_no_attr": RAW,
    "test_qp.QPTest.test_create_raw_qp_with_attr": RAW,
    "test_qp.QPTest.test_query_raw_qp": RAW,
}

# At least; Soft-RoCE passes 96, rdma_cm's included.
PASSED_ON_ROCE = 149
PASSED_ON_INFINIBAND = 136
