// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_wire.h"

#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <net/ethernet.h>

#include <cerrno>
#include <ctime>
#include <system_error>

namespace surety::lab {

namespace {

constexpr int kBuffer = 32 << 20, kBurst = 64;
constexpr std::size_t kLongest = 16384;
constexpr Duration kLate = std::chrono::milliseconds(5);
constexpr Duration kLookAround = std::chrono::milliseconds(50);  // for `stop`

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

void set(int fd, int level, int option, int value, const char* name) {
  if (setsockopt(fd, level, option, &value, sizeof value) != 0) fail(name);
}

// The delay lines' only clock; everything else is handed the time.
Time now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Time(std::chrono::seconds(t.tv_sec) + Duration(t.tv_nsec));
}

bool is_for(const MacAddress& station, std::span<const std::uint8_t> frame) {
  return (frame[0] & 1) != 0 || std::equal(station.begin(), station.end(), frame.begin());
}

}  // namespace

PacketInterface::PacketInterface(const std::string& name)
    : fd_(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  if (!fd_) fail("a packet socket");
  const unsigned index = if_nametoindex(name.c_str());
  if (index == 0) fail(name);
  set(fd(), SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING");
  set(fd(), SOL_SOCKET, SO_RCVBUFFORCE, kBuffer, "SO_RCVBUFFORCE");
  set(fd(), SOL_SOCKET, SO_SNDBUFFORCE, kBuffer, "SO_SNDBUFFORCE");
  packet_mreq promiscuous{};
  promiscuous.mr_ifindex = static_cast<int>(index);
  promiscuous.mr_type = PACKET_MR_PROMISC;
  if (setsockopt(fd(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof promiscuous) != 0)
    fail("promiscuous " + name);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(index);
  if (bind(fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("bind to " + name);
}

std::size_t PacketInterface::receive(std::span<std::uint8_t> room) const {
  const ssize_t n = recv(fd(), room.data(), room.size(), 0);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

bool PacketInterface::send(std::span<const std::uint8_t> frame) const {
  return ::send(fd(), frame.data(), frame.size(), 0) >= 0 || (errno != EAGAIN && errno != ENOBUFS);
}

std::uint64_t PacketInterface::missed() const {
  tpacket_stats stats{};
  socklen_t size = sizeof stats;
  return getsockopt(fd(), SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0 ? stats.tp_drops : 0;
}

Wire::Counters Wire::counters() const {
  Counters c{carried_, late_, 0};
  for (const auto& i : interfaces_) c.missed += i.missed();
  return c;
}

std::size_t Wire::add(const std::string& interface) {
  polled_.push_back({interfaces_.emplace_back(interface).fd(), POLLIN, 0});
  return interfaces_.size() - 1;
}

std::size_t Wire::connect(std::size_t from, std::size_t to, const Impairment& impairment, std::uint64_t seed,
                          std::optional<MacAddress> only_to) {
  directions_.push_back({from, to, only_to, DelayLine(impairment, seed)});
  return directions_.size() - 1;
}

void Wire::run(const std::atomic<bool>& stop) {
  prctl(PR_SET_TIMERSLACK, 1);
  while (!stop.load(std::memory_order_relaxed)) {
    for (std::size_t i = 0; i < interfaces_.size(); ++i) take_in(i);
    wait(release());
  }
}

void Wire::take_in(std::size_t interface) {
  std::array<std::uint8_t, kLongest> room;
  for (int n = 0; n < kBurst; ++n) {
    const std::size_t length = interfaces_[interface].receive(room);
    if (length < ETH_HLEN) return;
    offer(interface, std::span(room).first(length));
  }
}

void Wire::offer(std::size_t from, std::span<const std::uint8_t> frame) {
  const bool at_once = is_discovery(frame);
  for (auto& d : directions_) {
    if (d.from != from || (d.only_to && !is_for(*d.only_to, frame))) continue;
    if (at_once)
      interfaces_[d.to].send(frame);
    else
      d.line.offer(frame, now());
  }
}

Time Wire::release() {
  Time next = kNever;
  for (auto& d : directions_) {
    for (Time t = now(); d.line.next_arrival() <= t && interfaces_[d.to].send(d.line.front()); t = now()) {
      ++carried_;
      late_ += t - d.line.next_arrival() > kLate;
      d.line.pop();
    }
    next = std::min(next, d.line.next_arrival());
  }
  return next;
}

void Wire::wait(Time until) {
  const Time t = now();
  const Duration time =
      until == kNever ? kLookAround : std::clamp(Duration(until - t), Duration(0), kLookAround);
  const timespec timeout{time.count() / 1'000'000'000, time.count() % 1'000'000'000};
  ppoll(polled_.data(), polled_.size(), &timeout, nullptr);
}

}  // namespace surety::lab
