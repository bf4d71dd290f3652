// 128-bit integers, for products that need them for a moment.
#pragma once

namespace simverbs::sim {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

}  // namespace simverbs::sim
