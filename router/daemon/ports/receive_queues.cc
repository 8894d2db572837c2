// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/receive_queues.h"

#include <dirent.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

#include "router/daemon/memif/port.h"

namespace surety {

namespace {

constexpr std::uint64_t kAddresses = RTE_ETH_RSS_IP;
constexpr std::uint64_t kPorts = RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP;

std::optional<std::uint64_t> one_side(std::uint64_t offered, std::uint64_t side) {
  if ((offered & side) == 0 || (offered & kAddresses) == 0) return std::nullopt;
  return (offered & kAddresses) | side;
}

}  // namespace

std::array<std::uint8_t, kRssKey> symmetric_rss_key() {
  std::array<std::uint8_t, kRssKey> key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = i % 2 == 0 ? 0x6d : 0x5a;
  return key;
}

std::optional<std::uint64_t> rss_fields(const rte_eth_dev_info& device, Spread spread) {
  const std::uint64_t offered = device.flow_type_rss_offloads;
  if (device.max_rx_queues < 2 || device.hash_key_size > kRssKey) return std::nullopt;
  switch (spread) {
    case Spread::none:
      return std::nullopt;
    case Spread::flow:
      if ((offered & kAddresses) == 0) return std::nullopt;
      return offered & (kAddresses | kPorts);
    case Spread::source:
      return one_side(offered, RTE_ETH_RSS_L3_SRC_ONLY);
    case Spread::destination:
      return one_side(offered, RTE_ETH_RSS_L3_DST_ONLY);
  }
  return std::nullopt;
}

PortAbility ability_of(const rte_eth_dev_info& device) {
  PortAbility a;
  a.max_rx_queues = std::clamp<std::uint16_t>(device.max_rx_queues, 1, BurstGate::kLanes - 1);
  a.rss = rss_fields(device, Spread::flow).has_value();
  a.rss_source = rss_fields(device, Spread::source).has_value();
  a.rss_destination = rss_fields(device, Spread::destination).has_value();
  return a;
}

namespace {

int family_of(int fd) {
  int family = -1;
  socklen_t size = sizeof family;
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0 ? family : -1;
}

}  // namespace

std::set<int> open_sockets(int family) {
  std::set<int> sockets;
  if (family < 0) return sockets;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc/self/fd"), &closedir);
  if (!directory) return sockets;
  while (const dirent* entry = readdir(directory.get())) {
    int fd = -1;  // `.` and `..` are none
    std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), fd);
    if (fd >= 0 && family_of(fd) == family) sockets.insert(fd);
  }
  return sockets;
}

void WakeFds::add(std::uint16_t queue, int fd) {
  if (by_queue_.size() <= queue) by_queue_.resize(queue + 1u);
  by_queue_[queue].push_back(fd);
}

std::span<const int> WakeFds::of(std::uint16_t queue) const {
  if (queue >= by_queue_.size()) return {};
  return by_queue_[queue];
}

std::vector<int> SocketWatch::appeared() {
  std::set<int> now = open_sockets(family_);
  std::vector<int> fresh;
  std::set_difference(now.begin(), now.end(), known_.begin(), known_.end(), std::back_inserter(fresh));
  known_ = std::move(now);
  return fresh;
}

}  // namespace surety
