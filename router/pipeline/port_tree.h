// SPDX-License-Identifier: BSD-3-Clause
// Plan of the Hierarchy of a port whose interfaces have shapers, weights, groups or queues of their own: the
// interfaces with queues, their queues, shapers and weights.
//
// Immutable, part of a Snapshot. Interfaces without such keys share the port's own queues, which are one more
// interface, with the port's index. Objects that a reload does not change are shared with the previous plan.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aqm/hierarchy/share_params.h"
#include "aqm/params.h"
#include "config/config.h"
#include "router/pipeline/interfaces/interfaces.h"

namespace surety {

struct PortTree {
  // Packets that all queues below a port may hold together: the sum of their limits, or a shared pool
  // (aqm/hierarchy/packet_pool.h), for which there must be mbufs. The pool has kPool packets, or `dpdk:
  // {mbufs: ...}`, or as many as give each queue a part of its own while that is at most kParts, over all
  // ports.
  static constexpr std::uint32_t kPool = 16'384, kParts = 131'072;

  // The interfaces of a definition, one or a template's members, or the port's own queues.
  struct Node {
    InterfaceIndex first = 0;
    std::uint32_t count = 1;
    std::uint16_t definition = kNoInterface;  // index into Config::interfaces; kNoInterface: the port
    std::uint8_t set = 0;                     // index into `sets`
    GroupNumber parent = kNoGroup;
    PortShaperParams shaper;
    std::uint32_t weight = 1, part = 0;  // packets reserved for each queue
    std::vector<ClassParams> classes;
    std::shared_ptr<const InterfaceParams> params;
    bool same_params(const Node& other) const;
  };
  struct Group {
    std::string name;
    GroupNumber number = 0;  // unchanged by reloads
    PortShaperParams shaper;
    std::uint32_t weight = 1;
    std::shared_ptr<const GroupParams> params;
  };
  static constexpr std::uint8_t kPortsOwn = 0xff, kNobody = 0xfe;  // in set_of

  // Returns nullptr if the port needs no tree. `own`: the port's queues. Throws std::runtime_error where
  // there are more queue sets, queues or groups than there is room for.
  static std::shared_ptr<const PortTree> build(const config::Config& config, const Interfaces& interfaces,
                                               std::size_t port, const config::QueueSet& own,
                                               const PortTree* before);
  // The packets that the port's queues may hold; 0: it needs no tree.
  static std::uint32_t packets(const config::Config& config, std::size_t port);

  // True if the class numbers of packets are the same in both.
  bool same_layout(const PortTree& other) const;
  // The group of this name; nullptr: it has no interfaces.
  const Group* find_group(const std::string& name) const;

  // The interface whose queues hold the packets of `i`.
  InterfaceIndex owner(InterfaceIndex i) const { return has_queues(i) ? i : port; }
  bool has_queues(InterfaceIndex i) const { return i < set_of.size() && set_of[i] < sets.size(); }
  bool exists(InterfaceIndex i) const { return i < set_of.size() && set_of[i] != kNobody; }
  const config::QueueSet& set(InterfaceIndex owner) const {
    return sets[has_queues(owner) ? set_of[owner] : 0];
  }
  // The classes of the queues of `owner`.
  const std::vector<ClassParams>& classes(InterfaceIndex owner) const {
    return nodes[owner < node_of.size() ? node_of[owner] : 0].classes;
  }
  // Classes numbered over all interfaces that have an aggregate in one, the port's own first.
  std::optional<std::size_t> slot(InterfaceIndex owner, std::size_t class_index) const;
  std::size_t slots() const { return slots_; }

  // True if so many changes have split the Hierarchy's memory that it is to be built again and its packets
  // enqueued again.
  bool anew = false;
  InterfaceIndex port = 0;
  std::uint32_t pool = 0;              // packets
  std::vector<config::QueueSet> sets;  // [0]: the port's own
  // [0]: the port itself. An interface that is in several, a tag of a template, has the parameters of the
  // last.
  std::vector<Node> nodes;
  std::vector<Group> groups;           // groups that have interfaces
  std::vector<std::uint8_t> set_of;    // indexed by interface
  std::vector<std::uint16_t> node_of;  // indexed by interface; 0: without queues of its own

 private:
  void place_groups(const config::Config& config, const PortTree* before);
  void place_nodes(const config::Config& config, const Interfaces& interfaces, const PortTree* before);
  std::uint8_t place_set(const config::QueueSet& set);
  void count_slots(const config::Config& config, const Interfaces& interfaces);
  void count_lines(const PortTree* before);

  std::vector<std::pair<InterfaceIndex, std::size_t>> marked_;  // interfaces with aggregates: first slots
  std::size_t slots_ = 0;
  // Use of a Hierarchy's memory since it was built: released blocks serve only requests of their size. An
  // upper bound: new blocks are counted before released ones are reused.
  std::uint64_t used_lines_ = 0;
  std::map<std::uint32_t, std::uint32_t> spare_blocks_;  // indexed by lines
};

// The parameters of a set's classes, in their order.
std::vector<ClassParams> class_params(const config::QueueSet& set);
// True if both have the same classes, strict or not, in the same order: packets may stay in their queues.
bool same_classes(const config::QueueSet& a, const config::QueueSet& b);

}  // namespace surety
