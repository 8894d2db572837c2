// SPDX-License-Identifier: BSD-3-Clause
// Who gets what of a port that all want: two groups, three interfaces in each, two classes in each, all
// combinations of active interfaces; by a Hierarchy and by DPDK's rte_sched, beside what a fluid would get.
//
//   share_matrix [SECONDS]     of each combination, default 0.1: rte_sched's are real ones
//
// The tree is one that both can have: rte_sched knows rates of subports and pipes and weights of queues, and
// no weights among subports or pipes.
#include <fmt/format.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include <rte_sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "aqm/hierarchy/hierarchy.h"

using namespace surety;

namespace {

constexpr std::uint32_t kGroups = 2, kInterfaces = 3, kClasses = 2, kLength = 1000, kLimit = 64;
constexpr double kPort = 1e9, kGroup = 0.7e9, kInterface = 0.4e9;  // bit/s
constexpr std::array<std::uint32_t, kClasses> kWeights{3, 1};
using Shares = std::array<double, kGroups * kInterfaces * kClasses>;  // bit/s by queue

constexpr std::size_t queue_of(std::uint32_t interface, std::uint32_t cls) {
  return interface * kClasses + cls;
}
bool active(unsigned combination, std::uint32_t interface) {
  return (combination >> interface & 1) != 0;
}

// Equal parts of `rate`, and of what others leave.
std::vector<double> split(double rate, const std::vector<double>& wanted) {
  std::vector<double> got(wanted.size());
  for (std::vector<bool> full(wanted.size());;) {
    double left = rate;
    double hungry = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) (full[i] ? left : hungry) += full[i] ? -got[i] : 1;
    bool any = false;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (!full[i] && wanted[i] <= left / hungry) {
        got[i] = wanted[i];
        full[i] = any = true;
      }
    if (any) continue;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (!full[i]) got[i] = left / hungry;
    return got;
  }
}

Shares fluid(unsigned combination) {
  std::vector<double> groups;
  for (std::uint32_t g = 0; g < kGroups; ++g) {
    double wanted = 0;
    for (std::uint32_t i = 0; i < kInterfaces; ++i)
      wanted += active(combination, g * kInterfaces + i) ? kInterface : 0;
    groups.push_back(std::min(wanted, kGroup));
  }
  groups = split(kPort, groups);
  Shares shares{};
  for (std::uint32_t g = 0; g < kGroups; ++g) {
    std::vector<double> wanted;
    for (std::uint32_t i = 0; i < kInterfaces; ++i)
      wanted.push_back(active(combination, g * kInterfaces + i) ? kInterface : 0);
    const auto got = split(groups[g], wanted);
    for (std::uint32_t i = 0; i < kInterfaces; ++i)
      for (std::uint32_t c = 0; c < kClasses; ++c)
        shares[queue_of(g * kInterfaces + i, c)] = got[i] * kWeights[c] / (kWeights[0] + kWeights[1]);
  }
  return shares;
}

// --- ours, in virtual time ---

Shares ours(unsigned combination, double seconds) {
  const auto rate = [](double bits) { return Rate::bits_per_second(static_cast<std::uint64_t>(bits)); };
  const auto shaper = [&](double bits) {
    return PortShaperParams{rate(bits), default_burst(rate(bits)), {}};
  };
  std::vector<ClassParams> classes(kClasses);
  for (std::uint32_t c = 0; c < kClasses; ++c) {
    classes[c].weight = kWeights[c];
    classes[c].queue.limit = kLimit;
  }
  const GroupParams group(shaper(kGroup), 1);
  const InterfaceParams interface(shaper(kInterface), 1, classes, kLimit);
  Time now{std::chrono::seconds(1)};
  Hierarchy h({.interfaces = 8, .groups = kGroups, .queues = 16, .packets = 4096}, {}, now);
  PortShaper port(shaper(kPort), now);
  for (std::uint32_t g = 0; g < kGroups; ++g) h.add_group(g, group, now);
  for (std::uint32_t i = 0; i < kGroups * kInterfaces; ++i) h.add(i, i / kInterfaces, interface, now, i);
  Shares bytes{};
  const auto fill = [&] {
    for (std::uint32_t i = 0; i < kGroups * kInterfaces; ++i)
      for (std::uint32_t c = 0; c < kClasses && active(combination, i); ++c)
        while (h.queue(i, c).depth() < kLimit / 2)
          h.enqueue({{reinterpret_cast<void*>(queue_of(i, c) + 1), kNoFlow, kLength, Precedence::in},
                     i,
                     static_cast<std::uint8_t>(c)},
                    now);
  };
  const Time begin = now + std::chrono::milliseconds(20);
  const Time end = begin + Duration(static_cast<std::int64_t>(seconds * 1e9));
  for (; now < end; now = std::max(now + Duration(1), std::max(h.next_event(now), port.next_event(now)))) {
    fill();
    port.advance(now);
    std::array<Packet, 8> out;
    for (std::size_t n = h.dequeue(now, port, out); n > 0; --n)
      if (now >= begin) bytes[reinterpret_cast<std::size_t>(out[n - 1].handle) - 1] += kLength;
  }
  for (double& b : bytes) b = b * 8 / seconds;
  return bytes;
}

// --- rte_sched, in real time ---

class RteSched {
 public:
  RteSched() : pool_(rte_pktmbuf_pool_create("share_matrix", 4095, 0, 0, 2048, SOCKET_ID_ANY)) {
    rte_sched_subport_profile_params subport{};
    subport.tb_rate = static_cast<std::uint64_t>(kGroup / 8);
    subport.tb_size = 50'000;
    subport.tc_period = 10;
    rte_sched_pipe_params pipe{};
    pipe.tb_rate = static_cast<std::uint64_t>(kInterface / 8);
    pipe.tb_size = 50'000;
    pipe.tc_period = 10;
    pipe.tc_ov_weight = 1;
    pipe.wrr_weights[0] = static_cast<std::uint8_t>(kWeights[0]);
    pipe.wrr_weights[1] = pipe.wrr_weights[2] = pipe.wrr_weights[3] = static_cast<std::uint8_t>(kWeights[1]);
    rte_sched_subport_params pipes{};
    pipes.n_pipes_per_subport_enabled = kPipes;
    pipes.pipe_profiles = &pipe;
    pipes.n_pipe_profiles = pipes.n_max_pipe_profiles = 1;
    for (int tc = 0; tc < RTE_SCHED_TRAFFIC_CLASSES_PER_PIPE; ++tc) {
      subport.tc_rate[tc] = subport.tb_rate;
      pipe.tc_rate[tc] = pipe.tb_rate;
      pipes.qsize[tc] = kLimit;
    }
    rte_sched_port_params port{};
    port.name = "share_matrix";
    port.rate = static_cast<std::uint64_t>(kPort / 8);
    port.mtu = 1518;
    port.n_subports_per_port = kGroups;
    port.subport_profiles = &subport;
    port.n_subport_profiles = port.n_max_subport_profiles = 1;
    port.n_pipes_per_subport = kPipes;
    port_ = rte_sched_port_config(&port);
    if (pool_ == nullptr || port_ == nullptr) rte_exit(EXIT_FAILURE, "rte_sched: no port\n");
    for (std::uint32_t g = 0; g < kGroups; ++g) {
      if (rte_sched_subport_config(port_, g, &pipes, 0) != 0)
        rte_exit(EXIT_FAILURE, "rte_sched: no subport\n");
      for (std::uint32_t p = 0; p < kPipes; ++p)
        if (rte_sched_pipe_config(port_, g, p, 0) != 0) rte_exit(EXIT_FAILURE, "rte_sched: no pipe\n");
    }
  }
  ~RteSched() {
    rte_sched_port_free(port_);
    rte_mempool_free(pool_);
  }

  Shares run(unsigned combination, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now(), begin = start + std::chrono::milliseconds(50);
    const auto end = begin + std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
    Shares bytes{};
    std::array<std::uint32_t, std::tuple_size_v<Shares>> depth{};
    double sent = 0;
    for (auto now = start; now < end; now = Clock::now()) {
      fill(combination, depth);
      // It has no shaper for the port: who sends as fast as the wire does paces it.
      if (sent > kPort / 8 * std::chrono::duration<double>(now - start).count()) continue;
      std::array<rte_mbuf*, 4> out;
      const int n = rte_sched_port_dequeue(port_, out.data(), out.size());
      for (rte_mbuf* m : std::span(out).first(static_cast<std::size_t>(n))) {
        const std::size_t queue = *rte_pktmbuf_mtod(m, const std::size_t*);
        --depth[queue];
        sent += kLength;
        if (now >= begin) bytes[queue] += kLength;
        rte_pktmbuf_free(m);
      }
    }
    for (double& b : bytes) b = b * 8 / seconds;
    return bytes;
  }

 private:
  static constexpr std::uint32_t kPipes = 4;  // a power of two

  // The queue's number stands in the frame's first bytes: the scheduler has the hash's place.
  void fill(unsigned combination, std::array<std::uint32_t, std::tuple_size_v<Shares>>& depth) {
    for (std::uint32_t i = 0; i < kGroups * kInterfaces; ++i)
      for (std::uint32_t c = 0; c < kClasses && active(combination, i); ++c)
        for (; depth[queue_of(i, c)] < kLimit / 2; ++depth[queue_of(i, c)]) {
          rte_mbuf* m = rte_pktmbuf_alloc(pool_);
          if (m == nullptr) return;
          m->pkt_len = m->data_len = kLength;
          rte_sched_port_pkt_write(port_, m, i / kInterfaces, i % kInterfaces, RTE_SCHED_TRAFFIC_CLASS_BE, c,
                                   RTE_COLOR_GREEN);
          *rte_pktmbuf_mtod(m, std::size_t*) = queue_of(i, c);
          rte_sched_port_enqueue(port_, &m, 1);
        }
  }

  rte_mempool* pool_;
  rte_sched_port* port_ = nullptr;
};

double worst(const Shares& got, const Shares& wanted) {
  double most = 0;
  for (std::size_t q = 0; q < got.size(); ++q)
    most = std::max(most, std::abs(got[q] - wanted[q]) / kPort * 100);
  return most;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.1;
  std::array eal{std::string("share_matrix"), std::string("--no-huge"), std::string("--no-pci"),
                 std::string("--no-shconf"),  std::string("-m"),        std::string("128"),
                 std::string("--log-level=4")};
  std::vector<char*> words;
  for (std::string& word : eal) words.push_back(word.data());
  if (rte_eal_init(static_cast<int>(words.size()), words.data()) < 0) return EXIT_FAILURE;
  double most = 0, sum = 0, peers_most = 0, peers_sum = 0;
  constexpr unsigned kAll = 1u << (kGroups * kInterfaces);
  fmt::print("active  worst error of a class, points of the port's rate: Hierarchy  rte_sched\n");
  for (unsigned combination = 1; combination < kAll; ++combination) {
    const Shares wanted = fluid(combination);
    const double error = worst(ours(combination, seconds), wanted),
                 peers = worst(RteSched().run(combination, seconds), wanted);
    fmt::print("{:06b} {:>10.3f} {:>10.3f}\n", combination, error, peers);
    most = std::max(most, error), sum += error;
    peers_most = std::max(peers_most, peers), peers_sum += peers;
  }
  fmt::print("worst  {:>10.3f} {:>10.3f}\nmean   {:>10.3f} {:>10.3f}\n", most, peers_most, sum / (kAll - 1),
             peers_sum / (kAll - 1));
  return EXIT_SUCCESS;
}
