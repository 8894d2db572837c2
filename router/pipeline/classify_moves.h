// SPDX-License-Identifier: BSD-3-Clause
// The pending work of the classify stage after a reload: ports that lose their last rule, and changes of
// flows and contracts that wait for held packets.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "router/pipeline/flows/flow_record.h"
#include "router/pipeline/snapshot.h"

namespace surety {

// The ports whose packets are classified: those that some rule may match, and after a reload those that one
// could match before, until end(): unclassified packets would overtake the held packets of their flows.
class ClassifiedPorts {
 public:
  explicit ClassifiedPorts(const Snapshot& snapshot) : classified_(snapshot.config.ports.size()) {
    end(snapshot);
  }
  bool has(PortIndex port) const { return classified_[port] != 0; }
  // Applies a reload; `last`: when end() is due even with held packets.
  void adopt(const Snapshot& snapshot, Time last) {
    for (std::size_t p = 0; p < classified_.size(); ++p) {
      const bool matched = snapshot.classifier.classifies(static_cast<PortIndex>(p));
      pending_ |= classified_[p] != 0 && !matched;
      classified_[p] |= static_cast<std::uint8_t>(matched);
    }
    last_ = last;
  }
  // True if a port without rules is still classified.
  bool pending() const { return pending_; }
  bool due(bool empty, Time now) const { return pending_ && (empty || now >= last_); }
  void end(const Snapshot& snapshot) {
    for (std::size_t p = 0; p < classified_.size(); ++p)
      classified_[p] = snapshot.classifier.classifies(static_cast<PortIndex>(p));
    pending_ = false;
  }

 private:
  std::vector<std::uint8_t> classified_;  // indexed by port
  Time last_{};
  bool pending_ = false;
};

// A pending change of a flow or contract: its held packets are released, and a contract then starts with
// another service; from csa to csa it keeps its state and changes service only.
struct MoveRequest {
  static constexpr std::uint16_t kSameService = 0xffff;
  FlowId id;
  std::uint16_t service;
  bool flush;  // a flow is waiting until this buffer is empty
};

// The pending changes, one per record and at most kMost: flows that find no room retry.
class MoveRequests {
 public:
  static constexpr std::size_t kMost = 128;

  MoveRequests() { all_.reserve(kMost); }
  bool empty() const { return all_.empty(); }
  bool has(FlowId id) const { return std::ranges::find(all_, id, &MoveRequest::id) != all_.end(); }
  // Adds a request, kSameService for a flush, to the record's others. false: there is no room.
  bool add(FlowId id, std::uint16_t service) {
    const bool flush = service == MoveRequest::kSameService;
    if (const auto at = std::ranges::find(all_, id, &MoveRequest::id); at != all_.end()) {
      if (flush)
        at->flush = true;
      else
        at->service = service;
      return true;
    }
    if (all_.size() == kMost) return false;
    all_.push_back({id, service, flush});
    return true;
  }
  // Drops requests for services of an earlier reload; their flows will be classified again.
  void drop_services() {
    std::erase_if(all_, [](const MoveRequest& r) { return !r.flush; });
    for (MoveRequest& r : all_) r.service = MoveRequest::kSameService;
  }
  // Calls done(request), which may change it, for each; those for which it returns false stay.
  template <class Done>
  void serve(Done&& done) {
    std::size_t kept = 0;
    for (MoveRequest r : all_)
      if (!done(r)) all_[kept++] = r;
    all_.resize(kept);
  }

 private:
  std::vector<MoveRequest> all_;  // capacity kMost: nothing is allocated
};

}  // namespace surety
