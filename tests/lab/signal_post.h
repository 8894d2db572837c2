// Congestion signals between routers, as direct events: each arrives at the border router of its source after
// the propagation delay of the way there. No packets yet, so none is lost and none waits in a queue (issue:
// the wire protocol).
#pragma once

#include <map>
#include <queue>
#include <vector>

#include "router/congestion_signal.h"
#include "tests/lab/plan.h"
#include "tests/lab/router_driver.h"

namespace surety::lab {

class SignalPost {
 public:
  explicit SignalPost(const Plan& plan);

  // What `router` asks for now; true: something is on its way.
  bool collect(RouterDriver& router, std::size_t number, Time now);
  Time next() const { return on_the_way_.empty() ? kNever : on_the_way_.top().arrives; }
  // The one that arrives first: to which router.
  struct Delivery {
    std::size_t router;
    CongestionSignal signal;
  };
  Delivery take();

 private:
  struct Letter {
    Time arrives;
    std::uint64_t number;  // of equal times the first one sent comes first
    std::size_t router;
    CongestionSignal signal;
    friend bool operator>(const Letter& a, const Letter& b) {
      return a.arrives != b.arrives ? a.arrives > b.arrives : a.number > b.number;
    }
  };
  struct Less {
    bool operator()(const config::Address& a, const config::Address& b) const {
      return a.v6 != b.v6 ? a.v6 < b.v6 : a.bytes < b.bytes;
    }
  };
  const Plan& plan_;
  std::map<config::Address, std::size_t, Less> hosts_;
  std::priority_queue<Letter, std::vector<Letter>, std::greater<>> on_the_way_;
  std::uint64_t sent_ = 0;
};

}  // namespace surety::lab
