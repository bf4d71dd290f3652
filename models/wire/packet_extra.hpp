// The rare fields of a packet, in a side record that the packet owns.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "models/wire/int_stack.hpp"
#include "models/wire/packet.hpp"
#include "sim/check.hpp"

namespace simverbs::wire {

/// Number of a payload stream (host::StreamId): source bytes of a message, or a snapshot of them.
using StreamId = uint32_t;
inline constexpr StreamId kNoStream = 0;

/// Where a packet's payload bytes are. kNoStream: lengths only.
struct PayloadRef {
    StreamId stream = kNoStream;
    uint32_t length = 0;
    uint64_t offset = 0;  ///< in the stream
};

/// Counts references to payload streams. Calls may come from any thread that runs a node: implementations must bear
/// that.
class PayloadStreams {
  public:
    virtual ~PayloadStreams() = default;
    virtual void retain(StreamId stream) = 0;
    virtual void release(StreamId stream) = 0;
};

/// Extension headers and addressing that do not fit into the Packet. Which fields mean something follows from the
/// opcode.
struct PacketExtra {
    LeafId src = 0;                      ///< the sending HCA port
    uint32_t flow_label = 0;             ///< GRH / IPv6 flow label
    uint16_t src_gid_index = 0;          ///< at the sending port
    uint16_t pkey = 0xFFFF;              ///< BTH P_Key
    uint8_t traffic_class = 0;           ///< GRH / IP traffic class
    uint8_t hop_limit = 64;              ///< GRH / IP hop limit at the sender
    uint8_t dest_path_bits = 0;          ///< LMC bits of the DLID
    bool has_grh = false;                ///< InfiniBand: a GRH is present (RoCE always has one, or IP)
    bool is_retransmission = false;      ///< a request whose PSN its requester has sent before; for observers alone
    uint32_t dest_gid_index = 0;         ///< sender's address handle or path, where the receiver must know it; else 0
    uint32_t rkey = 0;                   ///< RETH and AtomicETH R_Key
    uint64_t vaddr = 0;                  ///< RETH and AtomicETH virtual address
    uint32_t dma_length = 0;             ///< RETH DMA length
    uint32_t imm_or_inv_rkey = 0;        ///< ImmDt (as on the wire, network order) or IETH R_Key
    uint64_t swap_or_add = 0;            ///< AtomicETH
    uint64_t compare = 0;                ///< AtomicETH; AtomicAckETH original value in an atomic acknowledge
    uint32_t qkey = 0;                   ///< DETH Q_Key
    uint32_t src_qp = 0;                 ///< the sender: DETH source QP; on other transports for observers alone
    uint32_t xrc_srq = 0;                ///< XRCETH XRC SRQ number
    std::array<uint8_t, 16> dest_gid{};  ///< GRH / IP destination as the sender wrote it (UD and multicast need it)
    PayloadRef payload;
};

/// The side records of one simulation, in slabs: each worker thread (Node::shard()) takes from and gives to its own
/// free list, so nothing locks per packet. Indices never influence order or output.
class PacketPool {
  public:
    /// `streams`: told of duplicated and released payload; nullptr if no packet carries real bytes.
    explicit PacketPool(unsigned shards, PayloadStreams* streams = nullptr);
    PacketPool(const PacketPool&) = delete;
    PacketPool& operator=(const PacketPool&) = delete;
    ~PacketPool();

    void set_streams(PayloadStreams* streams) noexcept { streams_ = streams; }

    /// A fresh record, all fields at their defaults. The caller retains the payload's stream itself when it sets one.
    [[nodiscard]] ExtraIndex allocate(unsigned shard) {
        Shard& s = shards_[shard];
        if (s.free.empty()) [[unlikely]]
            refill(s);
        const ExtraIndex index = s.free.back();
        s.free.pop_back();
        ++s.taken;
        (*this)[index] = PacketExtra{};
        return index;
    }
    /// Gives a record back (kNoExtra: nothing) and releases its payload stream.
    void release(unsigned shard, ExtraIndex index) {
        if (index == kNoExtra) return;
        const StreamId stream = (*this)[index].payload.stream;
        if (stream != kNoStream && streams_ != nullptr) streams_->release(stream);
        Shard& s = shards_[shard];
        s.free.push_back(index);
        ++s.given;
        if (s.free.size() >= kShardLimit) [[unlikely]]
            donate(s);
    }
    /// Releases what `packet` owns and leaves it without.
    void release(unsigned shard, Packet& packet) {
        release(shard, packet.extra);
        packet.extra = kNoExtra;
    }
    /// A second packet with its own copy of the record; the payload stream is retained once more.
    [[nodiscard]] Packet duplicate(unsigned shard, const Packet& packet);

    /// Gives every record room for telemetry; before the first packet.
    void carry_int() {
        int_slabs_ = std::make_unique<std::unique_ptr<IntStack[]>[]>(kMaxSlabs);
        carries_int_ = true;
    }
    [[nodiscard]] bool carries_int() const noexcept { return carries_int_; }
    /// Telemetry of a packet's record. It is not cleared by allocate().
    [[nodiscard]] IntStack& int_stack(ExtraIndex index) noexcept { return int_slabs_[index / kSlab][index % kSlab]; }

    [[nodiscard]] PacketExtra& operator[](ExtraIndex index) noexcept { return slabs_[index / kSlab][index % kSlab]; }
    [[nodiscard]] const PacketExtra& operator[](ExtraIndex index) const noexcept {
        return slabs_[index / kSlab][index % kSlab];
    }
    /// Records in use (between windows): 0 when every packet was consumed or dropped.
    [[nodiscard]] uint64_t in_use() const noexcept;

  private:
    static constexpr uint32_t kSlab = 1024;
    static constexpr uint32_t kMaxSlabs = 1U << 16;
    static constexpr size_t kShardLimit = 8 * kSlab;
    struct alignas(64) Shard {
        std::vector<ExtraIndex> free;
        uint64_t taken = 0;
        uint64_t given = 0;
    };
    void refill(Shard& shard);
    void donate(Shard& shard);

    PayloadStreams* streams_;
    std::vector<Shard> shards_;
    std::unique_ptr<std::unique_ptr<PacketExtra[]>[]> slabs_;
    std::unique_ptr<std::unique_ptr<IntStack[]>[]> int_slabs_;
    bool carries_int_ = false;
    std::mutex mutex_;  ///< guards what follows
    uint32_t slab_count_ = 0;
    std::vector<ExtraIndex> common_free_;
};

}  // namespace simverbs::wire
