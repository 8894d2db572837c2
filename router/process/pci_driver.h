// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace surety {

// True for kernel drivers of PCI devices that DPDK can use while the device stays bound to them.
constexpr bool is_bifurcated(std::string_view driver) {
  return driver == "mlx5_core" || driver == "mlx4_core" || driver == "mana";
}

}  // namespace surety
