// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/fib_tables.h"

#include <rte_errno.h>
#include <rte_fib.h>

#include <bit>
#include <stdexcept>

namespace surety {
namespace {

constexpr std::size_t kMegabyte = 1 << 20;
constexpr std::size_t kFirstLevel = 64 * kMegabyte;  // 2^24 entries of 4 bytes
constexpr std::size_t kGroup = 1024;                 // 256 entries of 4 bytes
constexpr std::size_t kNode = 192;  // two in the RIB for each route, with the mempool's header

constexpr std::size_t kEmptyNode = 136;  // without padding for memory channels

std::size_t nodes(std::uint32_t routes) {
  const std::size_t ring = std::bit_ceil(std::size_t{2} * routes + 1) * sizeof(void*);
  return 2 * kNode * routes + ring + kMegabyte;
}

}  // namespace

std::size_t FibTable4::bytes(std::uint32_t routes, std::uint32_t groups) {
  return kFirstLevel + groups * kGroup + nodes(routes);
}

// The mempool of nodes, written to as it is made.
std::size_t FibTable4::empty_bytes(std::uint32_t routes) {
  return std::size_t{2} * routes * kEmptyNode;
}

FibTable4::FibTable4(const std::string& name, std::uint32_t routes, std::uint32_t groups)
    : memory_(name, bytes(routes, groups)) {
  rte_fib_conf conf{};
  conf.type = RTE_FIB_DIR24_8;
  conf.max_routes = static_cast<int>(routes);
  conf.dir24_8 = {RTE_FIB_DIR24_8_4B, groups};
  fib_ = rte_fib_create(name.c_str(), memory_.socket(), &conf);
  if (fib_ == nullptr)
    throw std::runtime_error("cannot create the FIB for IPv4: " + std::string(rte_strerror(rte_errno)) +
                             "; lower `dpdk: {max_routes: ...}`");
  memory_.release_zeroes();
}

FibTable4::~FibTable4() {
  rte_fib_free(fib_);
}

}  // namespace surety
