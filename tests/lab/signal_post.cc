#include "tests/lab/signal_post.h"

namespace surety::lab {

SignalPost::SignalPost(const Plan& plan) : plan_(plan) {
  const auto& hosts = plan.scenario().hosts;
  for (std::size_t h = 0; h < hosts.size(); ++h) hosts_.emplace(hosts[h].address, h);
}

bool SignalPost::collect(RouterDriver& router, std::size_t number, Time now) {
  std::array<CongestionSignal, 8> signals;
  const std::uint64_t before = sent_;
  while (const std::size_t n = router.take_signals(signals)) {
    for (const CongestionSignal& s : std::span(signals).first(n)) {
      const auto host = hosts_.find(s.source);
      if (host == hosts_.end()) continue;
      const auto& border = plan_.routers()[number].borders[host->second];
      if (!border.router || *border.router == number || !plan_.scenario().routers[*border.router].signalling)
        continue;
      on_the_way_.push({now + border.delay, sent_++, *border.router, s});
    }
  }
  return sent_ != before;
}

SignalPost::Delivery SignalPost::take() {
  const Delivery d{on_the_way_.top().router, on_the_way_.top().signal};
  on_the_way_.pop();
  return d;
}

}  // namespace surety::lab
