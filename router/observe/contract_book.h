// SPDX-License-Identifier: BSD-3-Clause
// Conformance: whether each contract gets what it has bought, second by second.
//
// Guaranteed in a second is what a meter of the contract's rate and burst passes of what was offered. The
// conditioner is that meter: the bytes that it let go IN. Delivered is what it let go, IN and OUT, less what
// was lost behind it in this router; a packet to a neighbor that does not answer, or too large for a link,
// counts as delivered, since its sender chooses where it goes. 0.1 % of what is guaranteed is forgiven. What
// is missing beyond that adds up from second to second, and over all contracts that have one line, and a
// second is *violated* (RFC 9544 section 4: violated interval) when it comes to more than one packet. A
// second is *demanding* when at least a tenth of the committed rate was guaranteed, or when it is violated
// and lacks at least a tenth of what was guaranteed: a TCP connection in backoff sends next to nothing. A
// demanding second that is not violated is met; conformance is the part of the demanding seconds that are
// met. Bursts beyond the contract, the first and the last second of a transfer, and a ping violate nothing.
//
// A second in which OUT packets were lost behind the conditioner, or others' packets left no room in the
// input buffers, while over three seconds less was delivered than 95 % of the committed rate, is *held back*:
// nothing of what is guaranteed was lost, but TCP slows down for each loss. TCP connections that get their
// rate have 96 to 100 % of it in such three seconds.
//
// Respect: delivered / guaranteed, at most 1, over the last ten seconds; of a service over all its contracts.
//
// Contracts come and go (a flow that is idle is forgotten), their lines stay: customer, service and what is
// covered. So many lines are kept as `most` says; when there is no room, that of whoever was away for longest
// goes, some in a second, or one of a part that has more than the newcomer's (contract_parts.h). Else the
// newcomer is in his service's rest for as long as he is there. The rest counts what happens meanwhile, and
// nothing that a line of its own has told already.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "conditioners/units.h"
#include "router/contracts/losses.h"
#include "router/observe/contract_parts.h"
#include "router/observe/reading.h"

namespace surety {

inline constexpr const char* kRest = "(rest)";

// What is known of a contract at a moment.
struct ContractSighting {
  std::size_t worker = 0;
  std::uint32_t place = 0, generation = 0;  // ContractLedger
  FlowId flow = kNoFlow;
  std::uint32_t rule = 0;
  InterfaceIndex interface = 0;
  std::uint16_t service = 0;
  std::array<std::uint64_t, kPrecedences> before{};  // let go before it was one
  bool unsure = false;  // its place in the flow table may have been that of a contract that nobody saw
  std::array<std::uint64_t, kPrecedences> let_go{};  // bytes, with those before
  Loss lost{};                                       // of its place in the flow table, ever
  std::uint32_t held = 0;
};

// What a service sells.
struct ContractTerms {
  std::string service;
  Rate committed;
  Bytes bucket{0};
  std::optional<double> objective;
};

struct ContractName {
  std::string customer, contract;
  bool certain = false;  // the configuration says how many there are of its rule
  bool down = false;     // received on a core port
};

// What a line got in some time.
struct ContractTally {
  double committed_bytes_per_second = 0;  // the most of a second
  std::uint64_t offered_bytes = 0, delivered_in_bytes = 0, delivered_out_bytes = 0;
  std::uint64_t dropped_packets = 0, lost_packets = 0;  // by its conditioner, behind it
  std::uint64_t demanding_seconds = 0, met_seconds = 0, held_back_seconds = 0;

  bool any() const {
    return offered_bytes + dropped_packets + lost_packets + demanding_seconds + held_back_seconds > 0;
  }
  ContractTally& operator+=(const ContractTally& other);
};
struct ContractMinute {
  std::string customer, service, contract;
  std::optional<double> objective;
  ContractTally tally{};
  bool down = false;  // towards the customer
};

class ContractBook {
 public:
  static constexpr std::size_t kWindow = 10;     // seconds, of what is shown as respect
  static constexpr double kForgiven = 0.001;     // of what is guaranteed
  static constexpr double kDemanding = 0.1;      // of the committed rate
  static constexpr double kHeldBack = 0.95;      // of the committed rate
  static constexpr std::size_t kEvictions = 16;  // a second

  explicit ContractBook(std::size_t most) : most_(most) {}
  // A reload: so many lines from now on, those that are there stay; and names may be others.
  void keep(std::size_t most) {
    most_ = most;
    ++names_;
  }

  // Once a second: all contracts alive, by worker and place. `terms`: by service; `name`: of one not seen
  // before.
  void sample(const std::vector<ContractSighting>& sightings, const std::vector<ContractTerms>& terms,
              const std::function<ContractName(const ContractSighting&)>& name, Time now);

  std::vector<ContractReading> contracts() const;
  // f(const ContractReading&) for each of them.
  template <class F>
  void each(F f) const {
    for (const auto& [key, line] : lines_) f(line->shown);
  }
  // Objective, RoS and seconds.
  void apply(std::vector<ServiceReading>& services) const;
  // Of each line that had something since the last call.
  std::vector<ContractMinute> take_minute();

 private:
  // Of the last seconds, one after the other.
  struct Window {
    std::array<double, kWindow> guaranteed{}, delivered{};
    void begin(std::size_t slot) { guaranteed[slot] = delivered[slot] = 0; }
    std::optional<double> respect() const;
  };
  using Key = std::array<std::string, 3>;  // customer, service, contract
  struct Line {
    ContractReading shown;
    Window window;
    std::uint64_t demanding = 0, met = 0;  // contracts in this second
    std::uint64_t held_back = 0;           // seconds: of this one, those that count
    double missing = 0, packet = 0;        // bytes: of what is guaranteed; a lost packet's
    Loss lost{};                           // in this second
    std::uint64_t seen = 0;                // tick
    ContractTally minute{};
    ContractParts::Part part{};
    std::optional<ContractParts::Serial> serial;  // none: a rest
    bool gone = false;
  };
  using Lines = std::map<Key, std::shared_ptr<Line>>;
  struct Session {
    std::uint32_t generation = 0;
    std::uint64_t tick = 0;   // when it was seen last
    std::uint64_t names = 0;  // by those it was given its line
    std::uint32_t rule = 0;
    std::uint16_t service = 0;
    std::shared_ptr<Line> line{};
    std::array<std::uint64_t, kPrecedences> let_go{};
    Loss lost{};
    std::array<std::uint64_t, kPrecedences> owed{};  // lost after it had been taken for delivered
    std::array<double, 2> before{};  // bytes a second delivered in the two samples before this one
    std::uint32_t samples = 0;
  };
  struct ServiceLine {
    Window window;
    std::uint64_t demanding = 0, met = 0;
    std::optional<double> objective;
  };

  Session& session(const ContractSighting& s, const ContractTerms& terms,
                   const std::function<ContractName(const ContractSighting&)>& name);
  std::shared_ptr<Line> line(const ContractSighting& s, const ContractName& name, const ContractTerms& terms);
  std::shared_ptr<Line>& line_of(const Key& key);
  bool make_room();
  bool displace(const ContractParts::Part& part);
  void erase(Lines::iterator line);
  void begin(Line& line);
  void count(Session& session, const ContractSighting& s, const ContractTerms& terms, double elapsed);
  static bool violated(Line& line, const Loss& lost, double guaranteed, double missing);
  static bool below_rate(Session& session, double delivered, double committed);
  void judge(Line& line);

  std::size_t most_;
  Lines lines_;
  std::size_t named_ = 0;                           // of them, without the rests
  ContractParts parts_;                             // of those
  std::map<ContractParts::Serial, Key> by_serial_;  // those
  ContractParts::Serial serials_ = 0;
  std::vector<std::vector<Session>> sessions_;            // by worker and place
  std::vector<std::unordered_map<FlowId, Loss>> losses_;  // as seen last, where there are any
  std::map<std::string, ServiceLine> services_;
  std::uint64_t tick_ = 0, names_ = 0;
  std::size_t evictions_ = 0;  // in this one
  std::optional<Time> last_;
};

}  // namespace surety
