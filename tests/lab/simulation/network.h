// SPDX-License-Identifier: BSD-3-Clause
// The event loop: hosts, routers and lines of one run, and what travels between them.
#pragma once

#include <memory>
#include <vector>

#include "tests/lab/simulation/contract_book.h"
#include "tests/lab/simulation/event_tree.h"
#include "tests/lab/simulation/line.h"
#include "tests/lab/simulation/packet_note.h"
#include "tests/lab/simulation/recorder.h"
#include "tests/lab/simulation/router_driver.h"
#include "tests/lab/simulation/run_options.h"
#include "tests/lab/simulation/stations.h"

namespace surety::lab {

class Network final : private RouterLines, private DropObserver {
 public:
  // Time 0 of a run: whole ticks of the product's wheels.
  static constexpr Time kZero{Duration(std::int64_t{1} << 40)};

  Network(const Plan& plan, PacketPool& pool, std::uint64_t seed);
  ~Network();

  void tap(LinkTap* tap, std::size_t link) { tap_ = tap, tap_link_ = link; }
  // All events before `end`.
  void run_to(Time end);
  Time now() const { return now_; }
  std::uint64_t events() const { return events_; }
  std::uint64_t hops() const;
  // Congestion signals that no router has ended: dropped by a queue or a link, or come to a host.
  std::uint64_t signals_lost() const;
  std::uint64_t signals_leaked() const { return signals_leaked_; }  // of these, come to a host

  const Plan& plan() const { return plan_; }
  const Stations& stations() const { return stations_; }
  Recorder& recorder() { return recorder_; }
  ContractBook& contracts() { return contracts_; }
  void update_contracts() { contracts_.update(routers_, now_); }
  const Line& line(LineNumber n) const { return lines_[n]; }
  RouterDriver& router(std::size_t r) { return *routers_[r]; }
  std::span<const std::unique_ptr<RouterDriver>> all_routers() const { return routers_; }
  std::size_t routers() const { return routers_.size(); }

 private:
  using Thing = std::uint32_t;  // lines, then routers, then the hosts
  Thing router_thing(std::size_t r) const { return routers_from_ + static_cast<Thing>(r); }

  void dispatch(Thing thing);
  void arrive(LineNumber n);
  void receive_noting_drops(RouterDriver& router, rte_mbuf* m, PortIndex port);
  void poll_hosts();
  void enter(LineNumber n, rte_mbuf* m);
  void change_routes(Time until);
  void after(std::size_t router);

  void send(LineNumber line, rte_mbuf* m, Time now) override;
  Time free_at(LineNumber line) const override { return lines_[line].free_at(); }
  bool holds_back(LineNumber line) const override { return lines_[line].holds_back(); }
  LineNumber line_to(const rte_mbuf* m) const override;
  rte_mbuf* signal_buffer() override;
  void on_drop(const PacketNote& note, const rte_mbuf* m) override {
    if (note.signal)
      ++signals_freed_;
    else
      recorder_.on_drop(note, m);
  }

  const Plan& plan_;
  PacketPool& pool_;
  Rng rng_;
  SignalTrust trust_;
  std::vector<Line> lines_;
  Stations stations_;
  Recorder recorder_;
  ContractBook contracts_;
  std::vector<std::unique_ptr<RouterDriver>> routers_;
  Thing routers_from_, hosts_;
  EventTree tree_;
  std::vector<bool> enters_;  // by line: whether flows have contracts where it ends
  std::size_t changes_ = 0;   // of the plan that are done
  Time next_change_;
  std::uint64_t signals_freed_ = 0, signals_leaked_ = 0;  // dropped or ended by a router; come to a host
  Time now_ = kZero;
  std::uint64_t events_ = 0;
  LinkTap* tap_ = nullptr;
  std::size_t tap_link_ = 0;
};

}  // namespace surety::lab
