// A DPDK port made from one `device:` line: probed, configured, started, and given back.
//
// Errors are one sentence with the fix, thrown as PortError while the router starts; nothing throws
// afterwards.
#pragma once

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "config/config.h"
#include "router/dpdk/process_lock.h"
#include "router/exits.h"
#include "router/linux/steer.h"

namespace surety {

// A `null` device of this name receives without end (benchmarks fill in what); the others only swallow.
inline constexpr const char* kFeedDevice = "feed";

struct PortError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class DpdkPort {
 public:
  // `xdp_program`: the object file that says which frames of an af_xdp port come here; default: the router's.
  DpdkPort(const config::Port& config, std::size_t index, rte_mempool* pool,
           const std::string& xdp_program = steer_object_path());
  ~DpdkPort();
  DpdkPort(const DpdkPort&) = delete;
  DpdkPort& operator=(const DpdkPort&) = delete;

  // What stands behind a device of this kind in the kernel, and which interface (empty: none).
  static KernelPeer peer(const config::Device& device);
  static std::string interface(const config::Device& device);
  static std::string describe(const config::Device& device);  // as in YAML

  std::uint16_t id() const { return id_; }
  const std::array<std::uint8_t, 6>& mac() const { return mac_; }
  bool link_up() const;
  std::uint64_t rx_missed() const;  // lost before the router saw them

  std::size_t receive(std::span<rte_mbuf*> room) {
    return rte_eth_rx_burst(id_, 0, room.data(), static_cast<std::uint16_t>(room.size()));
  }
  std::size_t transmit(std::span<rte_mbuf*> burst) {
    return rte_eth_tx_burst(id_, 0, burst.data(), static_cast<std::uint16_t>(burst.size()));
  }

 private:
  void claim_interface(const config::Port& config);
  void probe(const config::Port& config, std::size_t index, const std::string& xdp_program);
  void start(const config::Port& config, rte_mempool* pool);
  void close() noexcept;

  std::string interface_;  // of the kernel; empty: none
  std::unique_ptr<ProcessLock> interface_lock_;
  std::string device_name_;  // as DPDK knows it
  std::uint16_t id_ = RTE_MAX_ETHPORTS;
  std::array<std::uint8_t, 6> mac_{};
};

}  // namespace surety
