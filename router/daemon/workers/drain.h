// SPDX-License-Identifier: BSD-3-Clause
// Ends a stopping worker only after it has processed all that other workers still have for it.
//
// Three stages, one after the other, each announced after the stage's last packet is in a ring: a worker that
// reads the announcement and then finds the ring empty gets nothing more from it. Signals are not drained:
// their loss is safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace surety {

class Drain {
 public:
  // Adds another worker of the router, which must outlive the last call of done().
  void connect(const Drain& peer) { peers_.push_back(&peer); }

  // Called between two turns of a worker that receives no more; true: it may end. `nothing_in()`: it has no
  // held or dispatched packet that it may still hand over; `nothing_out()`: its ports have no packet to send.
  // Both are called after the others' announcements have been read.
  template <class NothingIn, class NothingOut>
  bool done(NothingIn&& nothing_in, NothingOut&& nothing_out) {
    if (stage() == Stage::receives) announce(Stage::dispatches_no_more);
    if (stage() == Stage::dispatches_no_more && all_have(Stage::dispatches_no_more) && nothing_in())
      announce(Stage::hands_over_no_more);
    return stage() == Stage::hands_over_no_more && all_have(Stage::hands_over_no_more) && nothing_out();
  }

 private:
  enum class Stage : std::uint8_t { receives, dispatches_no_more, hands_over_no_more };
  Stage stage() const { return stage_.load(std::memory_order_relaxed); }
  void announce(Stage stage) { stage_.store(stage, std::memory_order_release); }
  bool all_have(Stage stage) const {
    return std::all_of(peers_.begin(), peers_.end(), [stage](const Drain* peer) {
      return peer->stage_.load(std::memory_order_acquire) >= stage;
    });
  }

  std::vector<const Drain*> peers_;
  std::atomic<Stage> stage_{Stage::receives};  // read by the peers
};

}  // namespace surety
