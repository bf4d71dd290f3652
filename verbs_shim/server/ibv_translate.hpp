// Between rdma-core's structs and the model's: one function a struct, enum values proved equal.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include "models/hca/hca.hpp"

namespace simverbs::server {

[[nodiscard]] hca::QpAttr qp_attr_from(const ibv_qp_attr& attr) noexcept;
[[nodiscard]] ibv_qp_attr qp_attr_to(const hca::QpAttr& attr) noexcept;
[[nodiscard]] hca::AhAttr ah_attr_from(const ibv_ah_attr& attr) noexcept;
[[nodiscard]] ibv_ah_attr ah_attr_to(const hca::AhAttr& attr) noexcept;
/// As the kernel's interface has it.
[[nodiscard]] ib_uverbs_ah_attr uverbs_ah_attr_to(const hca::AhAttr& attr) noexcept;
[[nodiscard]] hca::QpCap cap_from(const ibv_qp_cap& cap) noexcept;
[[nodiscard]] ibv_qp_cap cap_to(const hca::QpCap& cap) noexcept;
[[nodiscard]] ibv_device_attr_ex device_attr_to(const hca::DeviceAttr& attr) noexcept;
[[nodiscard]] ibv_port_attr port_attr_to(const hca::PortAttr& attr) noexcept;

}  // namespace simverbs::server
