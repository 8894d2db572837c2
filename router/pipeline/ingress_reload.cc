// SPDX-License-Identifier: BSD-3-Clause
// Reload of the ingress.
#include "router/pipeline/ingress.h"

namespace surety {

namespace {
// Bursts released per turn from input buffers that must be emptied: some ten microseconds.
constexpr std::size_t kVectorsAtOnce = 4;
}  // namespace

void Ingress::adopt(const Snapshot& snapshot, std::span<ServiceCounters> services,
                    std::vector<std::uint64_t>& filter_counts, Time now) {
  snapshot_ = &snapshot;
  for (ParseContext& c : contexts_) {
    c.mac = macs_[c.port];
    c.promiscuous = snapshot.config.ports[c.port].promiscuous;
  }
  rewrite_.adopt(macs_);
  sources_.adopt(snapshot);
  filters_.adopt(snapshot, filter_counts);
  classify_.adopt(snapshot, services, now);
  condition_.adopt(snapshot, services, now);
  interfaces_.adopt(snapshot);
  route_.adopt(snapshot);
  fragment_.adopt(snapshot);
  interceptor_.adopt(snapshot);
}

void Ingress::flush(Time now) {
  std::size_t vectors = kVectorsAtOnce;
  v_.size = 0;
  const auto held = [&](FlowId id) { return condition_.held(id); };
  classify_.serve(now, held, [&](FlowId id) {
    while (vectors > 0 && !condition_.flush(v_, id, now)) {
      send_revived(now);
      v_.size = 0;
      --vectors;
    }
    return (classify_.flows()[id].flags & FlowRecord::sticky) == 0;
  });
  if (v_.size > 0) send_revived(now);
  classify_.settle(condition_.held() == 0, now);
}

}  // namespace surety
