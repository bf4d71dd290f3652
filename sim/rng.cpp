#include "sim/rng.hpp"

namespace simverbs::sim {

ComponentId component_id(std::string_view path) noexcept {
    // FNV-1a, then mixed: FNV alone leaves the high bits of short paths poor.
    uint64_t h = 0xCBF29CE484222325;
    for (const char c : path) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    return mix64(h);
}

}  // namespace simverbs::sim
