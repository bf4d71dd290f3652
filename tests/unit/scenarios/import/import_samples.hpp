// Small right files of every format.
#pragma once

#include <string_view>

namespace simverbs::scenarios::imports {

/// Two pods of a leaf and two hosts, two cores: node 0 is a switch, as in the artifact's smaller sample.
constexpr std::string_view kHpccTopology =
    "8 4 8\n"
    "0 5 6\n"
    "7\n"
    "1 0 100Gbps 1000ns 0\n"
    "2 0 100Gbps 0.001ms 0\r\n"
    "3 5 25Gb/s 1us 0.000000\n"
    "4 5 12.5GB/s 1us 1e-6\n"
    "0 6 400Gbps 1000ns 0\n"
    "0 7 400Gbps 1000ns 0\n"
    "5 6 400Gbps 1000ns 0\n"
    "5 7 400Gbps 1000ns 0\n"
    "\n"
    "First line: nodes, switches, links\n";

constexpr std::string_view kHpccFlows =
    "3\n"
    "1 3 3 100 200000000 2\n"
    "2 3 3 100 65536 2.000001500\n"
    "4 1 0 101 1 2.1\n"
    "\n"
    "src dst priority port size time\n";

constexpr std::string_view kHpccTrace = "3\n1 2\n0\n\nFirst line: count\n";

constexpr std::string_view kCdf = "# bytes percent\n0 0\n10000 15\n20000 20.5 # a remark\n30000000 100\n";

constexpr std::string_view kHpccConfig =
    "ENABLE_QCN 1\n"
    "USE_DYNAMIC_PFC_THRESHOLD 0 {0: off}\n"
    "\n"
    "TOPOLOGY_FILE mix/topology.txt\n"
    "SIMULATOR_STOP_TIME 4.00\n"
    "CC_MODE 3\n"
    "RATE_AI 50Mb/s\n"
    "EWMA_GAIN 0.00390625\n"
    "LINK_DOWN 10 3 5\n"
    "KMAX_MAP 2 25000000000 400 100000000000 1600\n"
    "PMAX_MAP 1 25000000000 0.2\n"
    "BUFFER_SIZE 32\n";

constexpr std::string_view kConnectionMatrix =
    "Nodes 4\n"
    "Connections 6\n"
    "Triggers 3\n"
    "0->1 id 1 start 0 size 1000 recv_done_trigger 1\n"
    "1->2 id 2 trigger 1 size 2000 prio 5\n"
    "2->3 id 3 start 5000 size 10 send_done_trigger 2\n"
    "2->1 id 4 start 6000 size 10 send_done_trigger 2 \n"
    "2->0 id 5 trigger 2 size 30 recv_done_trigger 7\n"
    "0->3 id 6 trigger 7 size 40\n"
    "# declarations\n"
    "trigger id 1 oneshot\n"
    "trigger id 2 barrier count 2\n"
    "trigger id 7 multishot\n";

/// Two leaves and a spine; h-two has two ports; a switch has an adapter inside.
constexpr std::string_view kIbNetlist =
    "#\n"
    "# Topology file: generated on Thu Jan  1 00:00:00 2026\n"
    "#\n"
    "vendid=0x2c9\n"
    "devid=0xd2f0\n"
    "sysimgguid=0xaa01\n"
    "switchguid=0xaa01(aa01)\n"
    "Switch\t41 \"S-000000000000aa01\"\t\t# \"MF0;leaf-1:MQM8700/U1\" enhanced port 0 lid 2 lmc 0\n"
    "[2]\t\"H-00000000000000b2\"[1](b2) \t\t# \"two HCA-1\" lid 12 4xHDR\n"
    "[1]\t\"H-00000000000000b1\"[1](b1) \t\t# \"one mlx5_0\" lid 11 2xHDR\n"
    "[21]\t\"S-000000000000aa03\"[1]\t\t# \"spine\" lid 4 4xHDR\n"
    "[22]\t\"S-000000000000aa03\"[2]\t\t# \"spine\" lid 4 4xHDR\n"
    "[41]\t\"H-00000000000000ff\"[1](ff) \t\t# \"Mellanox Technologies Aggregation Node\" lid 99 4xHDR\n"
    "\n"
    "switchguid=0xaa02(aa02)\n"
    "Switch\t40 \"S-000000000000aa02\"\t\t# \"spine\" base port 0 lid 3 lmc 0\n"
    "[5][ext 3]\t\"H-00000000000000b2\"[2](b3) \t\t# \"two HCA-1\" lid 13 4xEDR\n"
    "[21]\t\"S-000000000000aa03\"[3]\t\t# \"spine\" lid 4 4xFDR\n"
    "\n"
    "Chassis 1 (guid 0xaa03)\n"
    "switchguid=0xaa03(aa03)\n"
    "Switch\t40 \"S-000000000000aa03\"\t\t# \"spine\" base port 0 lid 4 lmc 0\n"
    "[1]\t\"S-000000000000aa01\"[21]\t\t# \"MF0;leaf-1:MQM8700/U1\" lid 2 4xHDR\n"
    "[2]\t\"S-000000000000aa01\"[22]\t\t# \"MF0;leaf-1:MQM8700/U1\" lid 2 4xHDR\n"
    "[3]\t\"S-000000000000aa02\"[21]\t\t# \"spine\" lid 3 4xFDR\n"
    "\n"
    "caguid=0xb1\n"
    "Ca\t1 \"H-00000000000000b1\"\t\t# \"one mlx5_0\"\n"
    "[1](b1) \t\"S-000000000000aa01\"[1]\t\t# lid 11 lmc 0 \"MF0;leaf-1:MQM8700/U1\" lid 2 2xHDR\n"
    "\n"
    "caguid=0xb2\n"
    "Ca\t2 \"H-00000000000000b2\"\t\t# \"two HCA-1\"\n"
    "[1](b2) \t\"S-000000000000aa01\"[2]\t\t# lid 12 lmc 0 \"MF0;leaf-1:MQM8700/U1\" lid 2 4xHDR\n"
    "[2](b3) \t\"S-000000000000aa02\"[5]\t\t# lid 13 lmc 0 \"spine\" lid 3 4xEDR\n"
    "\n"
    "caguid=0xff\n"
    "Ca\t1 \"H-00000000000000ff\"\t\t# \"Mellanox Technologies Aggregation Node\"\n"
    "[1](ff) \t\"S-000000000000aa01\"[41]\t\t# lid 99 lmc 0 \"MF0;leaf-1:MQM8700/U1\" lid 2 4xHDR\n";

}  // namespace simverbs::scenarios::imports
