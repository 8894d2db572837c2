// SPDX-License-Identifier: BSD-3-Clause
// The commands of `surety-endpoint`: `run FILE`, `check FILE` and `bench`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conditioners/units.h"

namespace surety::endpoints {

// 0: every flow reached its target; 1: a flow with a target missed it by more than the tolerance, or a flow
// failed, or the run could not be made; 2: the command line or the configuration is wrong.
enum ExitStatus : int { kKept = 0, kMissed = 1, kBadUsage = 2 };

enum class Pace : std::uint8_t { automatic, busy, gentle };

struct RunOptions {
  std::string file;
  std::optional<Duration> duration;  // beats the configuration's
  double tolerance = 0.04;
  std::string json;                    // file for the report; "-": standard output; empty: none
  std::optional<bool> live;            // default: when standard output is a terminal
  std::optional<std::string> metrics;  // beats the configuration's `metrics: {listen: ...}`
  Pace pace = Pace::automatic;         // automatic: gentle where there are fewer than three cores
  int core = -1;
  std::uint32_t accept = 0;  // flows that the sinks of a port keep at most; 0: enough
};

int run(const RunOptions& options);
int check(const std::string& file);

// `surety-endpoint bench`: what a packet of a flow costs on one core, sender and sink together, and how
// exactly flows are paced.
//
// Two endpoints back to back in memory: frames are built, carried, parsed and answered as in a run, without a
// device. Data arrives at once, answers after a round-trip time. Time is virtual, so that the load is the
// same on every machine: 2 Mpps in all, every flow active.
struct BenchOptions {
  std::vector<std::uint64_t> flows{1000, 100'000};
  std::vector<std::uint32_t> packets{64, 1500};  // bytes of an IP packet
  std::vector<std::string> protocols{"udp", "gtfrc", "newreno"};
  int repetitions = 9;
  int core = -1;  // the last one this process may use
  bool json = false;
  bool pacing = false;
};

// The most that a data packet may cost:
// 120 cycles of UDP, 250 of DCCP and TCP, twice that beyond 1,000 flows.
double cycle_budget(const std::string& protocol, std::uint64_t flows);
inline constexpr std::size_t kFlowBytesBudget = 1024;

// Exit status: 0; 1 when it could not start; 2 when an option is wrong. Prints a row per protocol, number of
// flows and packet size: median, least and greatest cycles per data packet with all that it causes (its
// answer included), Mpps, answers per data packet, bytes of memory per flow, and the budgets; with `pacing`
// the distribution of inter-packet errors.
int bench(const BenchOptions& options);

}  // namespace surety::endpoints
