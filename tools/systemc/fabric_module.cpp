#include "tools/systemc/fabric_module.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace simverbs::systemc {

namespace {

constexpr char kReports[] = "/simverbs";
/// Programs' server and model run on it.
constexpr size_t kStackBytes = size_t{8} << 20;

FabricModule* the_module = nullptr;

sc_core::sc_time time_of(int64_t picoseconds) {
    return sc_core::sc_time::from_value(static_cast<sc_core::sc_time::value_type>(picoseconds));
}

}  // namespace

/// The design's clock, as the scenario's pacer.
class FabricModule::Clock final : public Pacer {
  public:
    explicit Clock(const sc_core::sc_time& quantum) : quantum_(static_cast<int64_t>(quantum.value())) { advance(); }
    [[nodiscard]] int64_t next_stop() const override { return next_; }
    void wait_there() override {
        wait_until(next_);
        advance();
    }
    static void wait_until(int64_t picoseconds) {
        const sc_core::sc_time there = time_of(picoseconds);
        if (there > sc_core::sc_time_stamp()) sc_core::wait(there - sc_core::sc_time_stamp());
    }

  private:
    void advance() { next_ = static_cast<int64_t>(sc_core::sc_time_stamp().value()) + quantum_; }

    int64_t quantum_;
    int64_t next_ = 0;
};

/// A part of a host whose model is bound to a socket. A module, as sockets must lie in one wherever they are asked for.
class FabricModule::Part final : public sc_core::sc_module, public PartTiming {
  public:
    Part(const sc_core::sc_module_name& module, const std::string& name)
        : sc_module(module), name_(name), socket("socket") {}

    int64_t pass(bool is_write, uint64_t address, uint32_t bytes, int64_t arrival) override {
        if (zeros_.size() < bytes) zeros_.resize(bytes);
        tlm::tlm_generic_payload transfer;
        transfer.set_command(is_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        transfer.set_address(address == kNoAddress ? 0 : address);
        transfer.set_data_ptr(zeros_.data());
        transfer.set_data_length(bytes);
        transfer.set_streaming_width(bytes);
        transfer.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        sc_core::sc_time delay = ahead(arrival);
        socket->b_transport(transfer, delay);
        if (transfer.is_response_error())
            SC_REPORT_ERROR(kReports, (name_ + ": the module in its place answers " + transfer.get_response_string() +
                                       " to " + std::to_string(bytes) + " bytes; expected TLM_OK_RESPONSE")
                                          .c_str());
        return std::max(arrival, static_cast<int64_t>((sc_core::sc_time_stamp() + delay).value()));
    }

  private:
    static sc_core::sc_time ahead(int64_t arrival) {
        const sc_core::sc_time there = time_of(arrival), now = sc_core::sc_time_stamp();
        return there > now ? there - now : sc_core::SC_ZERO_TIME;
    }
    std::string name_;
    std::vector<unsigned char> zeros_;

  public:
    tlm_utils::simple_initiator_socket<Part> socket;
};

tlm::tlm_initiator_socket<>& FabricModule::in_place_of(const std::string& part) {
    auto made = std::make_unique<Part>(sc_core::sc_gen_unique_name("part"), part);
    scenario_.replace(part, *made);
    return parts_.emplace_back(std::move(made))->socket;
}

FabricModule::FabricModule(const sc_core::sc_module_name& name, FabricOptions options)
    : sc_module(name), options_(std::move(options)), scenario_(options_.file, options_.settings) {
    if (the_module != nullptr)
        SC_REPORT_ERROR(kReports,
                        "a second FabricModule: a scenario owns its process's children and signals; use one "
                        "process for each");
    the_module = this;
    SC_HAS_PROCESS(FabricModule);
    SC_THREAD(run);
    set_stack_size(kStackBytes);
}

FabricModule::~FabricModule() {
    if (the_module == this) the_module = nullptr;
}

void FabricModule::before_end_of_elaboration() {
    if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1, sc_core::SC_PS))
        SC_REPORT_ERROR(kReports,
                        "the time resolution is not 1 ps, which is simverbs' unit: leave out "
                        "sc_set_time_resolution, or set 1 ps");
    if (options_.quantum < sc_core::sc_time(1, sc_core::SC_PS))
        SC_REPORT_ERROR(kReports, "the quantum is zero: expected how far the fabric may run ahead, such as 1 us");
}

void FabricModule::run() {
    Clock clock(options_.quantum);
    try {
        scenario_.run(clock, options_.out);
        Clock::wait_until(scenario_.simulated_time());
    } catch (const std::exception& error) {
        SC_REPORT_ERROR(kReports, error.what());
    }
    has_ended_ = true;
    ended_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace simverbs::systemc
