// The environment that takes a new process image into the lab.
#pragma once

#include <cstdint>

namespace simverbs::client::process {

/// A copy of `environment` in which the preload library and the lab's variables are present again (a program may have
/// cleared them) and the slot is `slot`. Lives in mapped memory of its own: usable between vfork-like calls, in signal
/// handlers, with a broken heap.
class LabEnvironment {
  public:
    LabEnvironment(char* const* environment, uint32_t slot);
    ~LabEnvironment();
    LabEnvironment(const LabEnvironment&) = delete;
    LabEnvironment& operator=(const LabEnvironment&) = delete;

    /// Null if there was no memory: then the program's own environment must do.
    [[nodiscard]] char* const* get() const { return list_; }

  private:
    char** list_ = nullptr;
    void* memory_ = nullptr;
    unsigned long bytes_ = 0;
};

/// Remembers what this image was started with. Called once, by the constructor.
void remember_environment();

}  // namespace simverbs::client::process
