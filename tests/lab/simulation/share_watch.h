// SPDX-License-Identifier: BSD-3-Clause
// What happens in the queues below ports: of each interface, and how alike the interfaces of a group fare.
#pragma once

#include <vector>

#include "tests/lab/results/result.h"
#include "tests/lab/simulation/network.h"

namespace surety::lab {

PrecedenceResult difference(const QueueCounters& end, const QueueCounters& begin);

class ShareWatch {
 public:
  explicit ShareWatch(Network& network);

  void mark(bool end);  // an end of the measured interval
  void tick();          // within it
  // Of a template's interfaces the queues that something came to, class by class; of others all.
  void results(RunResult& result, double measured_s);

 private:
  struct Queue {
    std::array<QueueCounters, kDropPrecedences> at_begin, at_end;
    double depths = 0;  // sum over ticks
    std::uint64_t bytes() const;
  };
  // The queues below one port, in the order of its nodes; of each all interfaces' first class, then their
  // second.
  struct Port {
    std::size_t router, port;
    std::vector<Queue> queues;
  };
  const QueueTree& tree(const Port& port);
  bool is_of(const PortTree::Node& node, std::uint32_t member, const Port& port);
  // Calls f(queue, node, member, class) for all.
  template <class F>
  void for_each(Port& port, F f);
  QueueResult result_of(const Port& port, const PortTree::Node& node, std::uint32_t member,
                        std::size_t class_index, const Queue& queue, double measured_s);
  void queue_results(Port& port, RunResult& result, double measured_s);
  void group_results(Port& port, RunResult& result, double measured_s);

  Network& network_;
  std::vector<Port> ports_;
  std::uint64_t ticks_ = 0;
};

}  // namespace surety::lab
