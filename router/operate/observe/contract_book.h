// SPDX-License-Identifier: BSD-3-Clause
// Conformance: whether each contract gets its committed rate, second by second.
//
// Guaranteed in a second are the offered bytes that a meter of the contract's rate and burst passes. The
// conditioner is that meter: the bytes that it passes IN. Delivered are the bytes that it passes, IN and OUT,
// less those lost behind it in this router; a packet to a neighbour that does not answer, or too large for a
// link, counts as delivered, since its sender chooses the destination. A deficit of 0.1 % of the guaranteed
// bytes is ignored. The deficit beyond that accumulates from second to second, and over all contracts of one
// line, and a second is *violated* (RFC 9544 section 4: violated interval) when it comes to more than one
// packet. A second is *demanding* when at least a tenth of the committed rate was guaranteed, or when it is
// violated and lacks at least a tenth of the guaranteed bytes: a TCP connection in backoff sends next to
// nothing. A demanding second that is not violated is met; conformance is the part of the demanding seconds
// that are met. Bursts beyond the contract, the first and the last second of a transfer, and a ping violate
// nothing.
//
// A second in which OUT packets were lost behind the conditioner, or others' packets left no room in the
// input buffers, while over three seconds less was delivered than 95 % of the committed rate, is *held back*:
// no guaranteed byte was lost, but TCP slows down for each loss. TCP connections that get their rate have 96
// to 100 % of it in such three seconds.
//
// Respect: delivered / guaranteed, at most 1, over the last ten seconds; of a service over all its contracts.
//
// Contracts end (an idle flow is removed), their lines stay: customer, service and the contract's key. At
// most `most` lines are kept; if there is no room, the line absent for longest is removed, a few per second,
// or a line of a part that has more than the new one's (contract_parts.h). Otherwise the new contract counts
// in its service's rest for its lifetime. The rest counts no byte that a line of its own has counted.
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
#include "router/operate/observe/contract_parts.h"
#include "router/operate/observe/reading.h"
#include "router/pipeline/flows/losses.h"

namespace surety {

inline constexpr const char* kRest = "(rest)";

// The state of a contract at a moment.
struct ContractSighting {
  std::size_t worker = 0;
  std::uint32_t place = 0, generation = 0;  // ContractLedger
  FlowId flow = kNoFlow;
  std::uint32_t rule = 0;
  InterfaceIndex interface = 0;
  std::uint16_t service = 0;
  std::array<std::uint64_t, kPrecedences> before{};  // passed before it was a contract
  bool unsure = false;  // the slot in the flow table may have been an unseen contract's
  std::array<std::uint64_t, kPrecedences> let_go{};  // bytes passed, including `before`
  Loss lost{};                                       // total of its slot in the flow table
  std::uint32_t held = 0;
};

// The terms of a service's contracts.
struct ContractTerms {
  std::string service;
  Rate committed;
  Bytes bucket{0};
  std::optional<double> objective;
};

struct ContractName {
  std::string customer, contract;
  bool certain = false;  // the configuration determines how many contracts its rule has
  bool down = false;     // received on a core port
};

// The counts of a line over some time.
struct ContractTally {
  double committed_bytes_per_second = 0;  // the highest of any second
  std::uint64_t offered_bytes = 0, delivered_in_bytes = 0, delivered_out_bytes = 0;
  std::uint64_t dropped_packets = 0, lost_packets = 0;  // at its conditioner, behind it
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
  static constexpr std::size_t kWindow = 10;     // seconds, for the shown respect
  static constexpr double kForgiven = 0.001;     // fraction of the guaranteed bytes
  static constexpr double kDemanding = 0.1;      // fraction of the committed rate
  static constexpr double kHeldBack = 0.95;      // fraction of the committed rate
  static constexpr std::size_t kEvictions = 16;  // per second

  explicit ContractBook(std::size_t most) : most_(most) {}
  // Sets the number of lines after a reload; existing lines stay, names may differ.
  void keep(std::size_t most) {
    most_ = most;
    ++names_;
  }

  // Called once a second, with all live contracts, by worker and place. `terms`: indexed by service; `name`:
  // called for a contract not seen before.
  void sample(const std::vector<ContractSighting>& sightings, const std::vector<ContractTerms>& terms,
              const std::function<ContractName(const ContractSighting&)>& name, Time now);

  std::vector<ContractReading> contracts() const;
  // Calls f(const ContractReading&) for each contract.
  template <class F>
  void each(F f) const {
    for (const auto& [key, line] : lines_) f(line->shown);
  }
  // Sets objective, RoS and seconds.
  void apply(std::vector<ServiceReading>& services) const;
  // The tallies of lines with any count since the last call.
  std::vector<ContractMinute> take_minute();

 private:
  // A ring of the last seconds.
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
    std::uint64_t held_back = 0;           // seconds of the current sample that are held back
    double missing = 0, packet = 0;        // bytes: guaranteed but missing; size of a lost packet
    Loss lost{};                           // in this second
    std::uint64_t seen = 0;                // last tick
    ContractTally minute{};
    ContractParts::Part part{};
    std::optional<ContractParts::Serial> serial;  // nullopt: a rest
    bool gone = false;
  };
  using Lines = std::map<Key, std::shared_ptr<Line>>;
  struct Session {
    std::uint32_t generation = 0;
    std::uint64_t tick = 0;   // last tick
    std::uint64_t names = 0;  // value of names_ when its line was found
    std::uint32_t rule = 0;
    std::uint16_t service = 0;
    std::shared_ptr<Line> line{};
    std::array<std::uint64_t, kPrecedences> let_go{};
    Loss lost{};
    std::array<std::uint64_t, kPrecedences> owed{};  // lost after it had counted as delivered
    std::array<double, 2> before{};  // bytes per second delivered in the two samples before this one
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
  std::size_t named_ = 0;                           // lines without the rests
  ContractParts parts_;                             // parts of the named lines
  std::map<ContractParts::Serial, Key> by_serial_;  // named lines
  ContractParts::Serial serials_ = 0;
  std::vector<std::vector<Session>> sessions_;            // indexed by worker and place
  std::vector<std::unordered_map<FlowId, Loss>> losses_;  // last values; nonzero only
  std::map<std::string, ServiceLine> services_;
  std::uint64_t tick_ = 0, names_ = 0;
  std::size_t evictions_ = 0;  // in this second
  std::optional<Time> last_;
};

}  // namespace surety
