// Plays a sequence of steps to the model under test and to the reference, and compares what both say.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/verbs/model/dice.hpp"
#include "tests/conformance/verbs/model/reference.hpp"
#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test::model {

/// How often completions said what.
class Tally {
  public:
    void count(WcStatus status) { ++counts_[static_cast<size_t>(status)]; }
    void add(const Tally& other) {
        for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    }
    [[nodiscard]] uint64_t of(WcStatus status) const { return counts_[static_cast<size_t>(status)]; }
    [[nodiscard]] std::string text() const;

  private:
    std::array<uint64_t, 24> counts_{};
};

/// One sequence, from two connected queue pairs on. A step is a number; `first` says what the lab is like.
class Driver {
  public:
    Driver(QpType type, uint64_t first);

    /// Plays one step. False after a divergence.
    bool step(uint64_t number);
    /// Lets everything end and compares for the last time.
    bool finish();
    [[nodiscard]] bool diverged() const { return !divergence_.empty(); }
    /// What was done, a step a line, and what went apart.
    [[nodiscard]] std::string story() const;
    [[nodiscard]] const Tally& tally() const { return tally_; }

  private:
    struct Real {
        Hca* hca = nullptr;
        TestSink* sink = nullptr;
        OwnerId owner = 0;
        AhHandle ah = 0;
        size_t seen_cqes = 0, seen_events = 0, seen_channel = 0;
    };

    // driver.cpp
    void settle();
    void compare(size_t host);
    void compare_completions(size_t host);
    void expect(const std::string& call, int64_t expected, int64_t got);
    void expect_unused_key(uint32_t key);
    void diverge(const std::string& what);
    void tell(std::string line);
    [[nodiscard]] ControlContext by(size_t host) { return {real_[host].owner, now(), nullptr}; }
    [[nodiscard]] sim::SimTime now() { return rig_.now(); }
    [[nodiscard]] Reference& reference() { return reference_; }

    // driver_posts.cpp
    void post_send(size_t host, Dice& dice);
    void post_receive(size_t host, Dice& dice);
    [[nodiscard]] Send make_send(size_t host, Dice& dice);
    void choose_remote(size_t host, Send& send, uint32_t length, Dice& dice);
    void choose_window(size_t host, Send& send, Dice& dice);
    [[nodiscard]] Sge make_sge(size_t host, bool is_sink, uint32_t length, Dice& dice);
    [[nodiscard]] bool hold_back(size_t host, Send& send);
    /// May this choice be a bad one? In most sequences few are, so that work gets done.
    [[nodiscard]] bool is_wrong(Dice& dice) const { return dice.once_in(wrong_once_in_); }
    /// A window that can be bound now, or one that is bound: with `bound_to` the rights and the length that are needed.
    [[nodiscard]] const Window* bindable(size_t host) const;
    [[nodiscard]] const Window* invalidatable(size_t host) const;
    [[nodiscard]] const Window* usable(size_t host, uint32_t rights, uint32_t length) const;
    [[nodiscard]] bool would_fail(size_t host, const Send& send) const;
    void poll(size_t host, Dice& dice);
    void arm(size_t host, Dice& dice);

    // driver_objects.cpp
    void make_host(size_t host, Dice& dice);
    void create_qp(size_t host);
    void replace_cq(size_t host);
    void destroy_qp(size_t host);
    void recover();
    void next_state(size_t host, Dice& dice);
    void modify_anyhow(size_t host, Dice& dice);
    int modify(size_t host, const QpAttr& attr, uint32_t mask);
    [[nodiscard]] QpAttr right_attributes(size_t host) const;
    void change_region(size_t host, Dice& dice);
    void register_region(size_t host, size_t slot, Dice& dice);
    void change_window(size_t host, Dice& dice);
    void destroy_what_is_used(size_t host, Dice& dice);

    QpType type_;
    Losses losses_;
    Rig rig_;
    Reference reference_;
    std::array<Real, 2> real_;
    uint32_t wrong_once_in_ = 4;
    uint64_t next_wr_id_ = 1;
    bool reads_pending_ = false;  ///< since the last settle: what follows must be fenced
    bool local_pending_ = false;  ///< since the last settle: a bind or an invalidation
    Tally tally_;
    std::vector<std::string> lines_;
    std::string divergence_;
};

}  // namespace simverbs::test::model
