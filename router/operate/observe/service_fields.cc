// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/reading_fields.h"

namespace surety::fields {
namespace {

template <class Row>
Value<Row> by_precedence(std::array<std::uint64_t, kPrecedences> Row::*member) {
  return [member](const Row& row) {
    return Json::array({{"in", (row.*member)[0]}, {"out", (row.*member)[1]}});
  };
}

Json side(const ServiceReading& s, Precedence p) {
  Json counts;
  for (const auto& info : ServiceCounters::table_by_precedence())
    counts[info.name] = (s.counters.*info.member)[index(p)];
  counts["delivered_bytes"] = s.delivered_bytes[index(p)];
  return counts;
}

// Services without a commitment have no such seconds.
std::optional<std::uint64_t> seconds_of(const ServiceReading& s, std::uint64_t n) {
  return s.objective || s.demanding_seconds > 0 ? std::optional(n) : std::nullopt;
}

Json drops_of(const ContractReading& c) {
  Json drops = Json::object();
  for (std::size_t r = 0; r < kLossReasons.size(); ++r)
    if (c.lost.by_reason[r] > 0) drops[std::string(info(kLossReasons[r]).name)] = c.lost.by_reason[r];
  return drops;
}

Json losses_of(const ContractReading& c) {
  Json all = Json::array();
  for (std::size_t place = 0; place < kLossPlaces.size(); ++place)
    all.push_back({kLossPlaces[place], c.lost.at(static_cast<LossPlace>(place))});
  return all;
}

Json state_of(const SubscriberReading& s) {
  return s.suspended ? Json("suspended") : !s.met ? Json() : *s.met ? "conforms" : "violated";
}

Column met_now(std::string title, const std::string& path) {
  Column c = text(std::move(title), path);
  c.cell = [](const Json& row) {
    const Json* const met = member(row, "met");
    return met == nullptr ? "-" : met->get<bool>() ? "conforms" : "violated";
  };
  return c;
}

Column conformance(std::string title, const std::string&) {
  return quotient(std::move(title), human::conformance, "met_seconds", "demanding_seconds");
}

Column utilization(std::string title, const std::string&) {
  return quotient(std::move(title), human::percent, "sold_bytes_per_second", "capacity_bytes_per_second");
}

constexpr const char *kDemanding =
                         "Demanding seconds of each contract: at least a tenth of its committed rate "
                         "was guaranteed, or the second is violated.",
                     *kMet =
                         "Demanding seconds that are not violated: the guaranteed bytes were delivered. "
                         "Conformance is their share.",
                     *kObjective = "The conformance that is agreed with the customer.";

}  // namespace

// clang-format off

using S = ServiceReading;
const Table<ServiceReading> kServices({
  .json = "name conditioner flows contracts",
  .columns = "name conditioner flows contracts",
  .metrics = "... respect_ratio dropped held contracts committed_bytes_per_second achieved_bytes_per_second flows",
  .labels = "service=name",
}, counters_by_precedence<S>(ServiceCounters::table_by_precedence(),
                             [](const S& s, auto member, std::size_t p) { return (s.counters.*member)[p]; }), {
  {"name", &S::name, {"SERVICE", text}},
  {"conditioner", &S::conditioner, {"CONDITIONER", text}},
  {"committed_bytes_per_second", sum(&S::committed_bytes_per_second), {"COMMITTED", rate},
   {"surety_service_committed_bytes_per_second", "Committed rate: the service's rate times its contracts."}},
  {"achieved_bytes_per_second", sum(&S::achieved_bytes_per_second), {"DELIVERED", rate},
   {"surety_service_achieved_bytes_per_second", "Rate delivered, IN and OUT, over the last seconds."}},
  {"achieved_in_bytes_per_second", sum(&S::achieved_in_bytes_per_second)},
  {"respect_ratio", &S::respect_ratio, {"OF GUARANTEED", percent},
   {"surety_service_respect_ratio",
    "Delivered of guaranteed bytes over the last ten seconds, at most 1; absent if nothing was guaranteed."}},
  {"conformance", {}, {"CONFORMANCE", conformance}},
  {"objective_ratio", &S::objective, {}, {"surety_service_objective_ratio", kObjective}},
  {"demanding_seconds", present(&S::demanding_seconds), {},
   {"surety_service_demanding_seconds_total", kDemanding, "", [](const S& s) { return seconds_of(s, s.demanding_seconds); }}},
  {"met_seconds", [](const S& s) { return s.demanding_seconds > 0 ? Json(s.met_seconds) : Json(); }, {},
   {"surety_service_met_seconds_total", kMet, "", [](const S& s) { return seconds_of(s, s.met_seconds); }}},
  {"in", [](const S& s) { return side(s, Precedence::in); }},
  {"out", [](const S& s) { return side(s, Precedence::out); }},
  {"in.packets", {}, {"IN", total}},
  {"out.packets", {}, {"OUT", total}},
  {"", sum(&S::counters)},
  {"", {}, {},
   {"surety_service_offered_bytes_total", "Bytes of IP packets that came to a conditioner and were passed or dropped by it.", "",
    [](const S& s) { return s.counters.bytes[0] + s.counters.bytes[1] + s.counters.dropped_bytes; }}},
  {"", sum(&S::delivered_bytes), {},
   {"surety_service_delivered_bytes_total", "Bytes of IP packets that passed a conditioner and were not dropped behind it.",
    "precedence", by_precedence(&S::delivered_bytes)}},
}, counters<S>(ServiceCounters::table(), [](const S& s, auto member) { return s.counters.*member; }));

using C = ContractReading;
const Table<ContractReading> kContracts({
  .columns = "customer service contract committed_bytes_per_second offered_bytes_per_second delivered_bytes_per_second "
             "delivered_in_bytes_per_second respect_ratio conformance objective_ratio met demanding_seconds held_back_seconds ... "
             "direction reason",
  .labels = "customer service contract",
}, {
  {"customer", &C::customer, {"CUSTOMER", text}},
  {"service", &C::service, {"SERVICE", text}},
  {"contract", &C::contract, {"CONTRACT", text}},
  {"committed_bytes_per_second", &C::committed_bytes_per_second, {"COMMITTED", rate},
   {"surety_contract_committed_bytes_per_second", "Committed rate of the contracts in use; 0 if none is."}},
  {"offered_bytes_per_second", &C::offered_bytes_per_second, {"OFFERED", rate}},
  {"delivered_bytes_per_second", &C::delivered_bytes_per_second, {"DELIVERED", rate}},
  {"delivered_in_bytes_per_second", &C::delivered_in_bytes_per_second, {"IN", rate}},
  {"offered_bytes", &C::offered_bytes, {},
   {"surety_contract_offered_bytes_total",
    "Bytes of IP packets that came to the contract's conditioner and were passed or dropped by it."}},
  {"delivered_in_bytes", [](const C& c) { return c.delivered_bytes[0]; }, {},
   {"surety_contract_delivered_bytes_total",
    "Bytes of IP packets that passed the contract's conditioner and were not dropped behind it.", "precedence",
    by_precedence(&C::delivered_bytes)}},
  {"delivered_out_bytes", [](const C& c) { return c.delivered_bytes[1]; }},
  {"held", &C::held, {"HELD", count}, {"surety_contract_held_packets", "Packets of the contract in input buffers."}},
  {"direction", [](const C& c) { return c.down ? Json(*c.down ? "down" : "up") : Json(); }, {"DIRECTION", text}},
  {"dropped_conditioner", [](const C& c) { return c.lost.at(LossPlace::conditioner); }, {"DROPPED", total}},
  {"dropped_queue", [](const C& c) { return c.lost.at(LossPlace::queue); }, {"QUEUE DROPS", total}},
  {"dropped_other", [](const C& c) { return c.lost.at(LossPlace::other); }, {"OTHER DROPS", total}},
  {"drops", drops_of, {},
   {"surety_contract_dropped_packets_total", "Packets of the contract that were dropped, by place.", "place", losses_of}},
  {"demanding_seconds", &C::demanding_seconds, {"SECONDS", total}, {"surety_contract_demanding_seconds_total", kDemanding}},
  {"met_seconds", &C::met_seconds, {}, {"surety_contract_met_seconds_total", kMet}},
  {"held_back_seconds", &C::held_back_seconds, {"HELD BACK", total},
   {"surety_contract_held_back_seconds_total", "Seconds in which OUT packets were dropped behind the conditioner and less than 95 % "
    "of the committed rate was delivered over three seconds, for any of the contracts."}},
  {"respect_ratio", &C::respect_ratio, {"OF GUARANTEED", percent}},
  {"conformance", {}, {"CONFORMANCE", conformance}},
  {"met", &C::met, {"NOW", met_now}},
  {"reason", [](const C& c) { return c.met == false && c.reason ? Json(info(*c.reason).name) : Json(); }, {"REASON", text}},
  {"objective_ratio", &C::objective, {"OBJECTIVE", percent}, {"surety_contract_objective_ratio", kObjective}},
});

const Table<FilterReading> kFilters({.labels = "filter entry action"}, {
  {"filter", &FilterReading::filter, {"FILTER", text}},
  {"entry", &FilterReading::entry, {"ENTRY", text}},
  {"action", &FilterReading::action, {"ACTION", text}},
  {"packets", sum(&FilterReading::packets), {"PACKETS", total},
   {"surety_filter_packets_total", "Packets decided by an entry of a filter, or by none (default). A flow with a record counts with its "
    "first packet, and with the first after a reload; all other packets count each."}},
});

using F = FlowReading;
const Table<FlowReading> kFlows({.columns = "source destination protocol vlan"}, {
  {"source", &F::source, {"SOURCE", text}},
  {"destination", &F::destination, {"DESTINATION", text}},
  {"protocol", &F::protocol, {"PROTOCOL", text}},
  {"service", &F::service, {"SERVICE", text}},
  {"vlan", &F::vlan, {"VLAN", count}},
  {"in_bytes", &F::in_bytes, {"IN", total_bytes}},
  {"out_bytes", &F::out_bytes, {"OUT", total_bytes}},
  {"held", &F::held, {"HELD", count}},
  {"idle_seconds", &F::idle_seconds, {"IDLE", duration}},
});

using config::Sale;
const Table<Sale> kCommitments({.labels = "port group interface queue direction"}, {
  {"port", &Sale::port, {"PORT", text}},
  {"group", &Sale::group, {"GROUP", text}},
  {"interface", &Sale::interface, {"INTERFACE", text}},
  {"queue", &Sale::queue, {"QUEUE", text}},
  {"direction", [](const Sale& s) { return s.way == Sale::Way::up ? "up" : "down"; }, {"DIRECTION", text}},
  {"sold_bytes_per_second", [](const Sale& s) { return s.sold.bytes_per_second(); }, {"COMMITTED", rate},
   {"surety_sold_bytes_per_second",
    "Committed capacity: the rate that contracts commit (up) or that shapers pass (down); for a template, of each member."}},
  {"oversold", &Sale::oversold},
  {"capacity_bytes_per_second", [](const Sale& s) { return s.capacity ? Json(s.capacity->bytes_per_second()) : Json(); },
   {"CAPACITY", rate}, {"surety_capacity_bytes_per_second", "Capacity for the committed rates, if it is known."}},
  {"", {}, {"UTILIZATION", utilization}},
  {"members", present(&Sale::members), {"PER MEMBER OF", count}},
});

using U = SubscriberReading;
const Table<SubscriberReading> kSubscribers({
  .columns = "name plan owner place state committed_bytes_per_second offered_bytes_per_second delivered_bytes_per_second conformance",
}, {
  {"name", &U::name, {"NAME", text}},
  {"plan", &U::plan, {"PLAN", text}},
  {"owner", &U::owner, {"OWNER", text}},
  {"place", &U::place, {"PLACE", text}},
  {"suspended", &U::suspended},
  {"state", state_of, {"STATE", text}},
  {"committed_bytes_per_second", &U::committed_bytes_per_second, {"COMMITTED", rate}},
  {"offered_bytes_per_second", &U::offered_bytes_per_second, {"OFFERED", rate}},
  {"delivered_bytes_per_second", &U::delivered_bytes_per_second, {"DELIVERED", rate}},
  {"demanding_seconds", present(&U::demanding_seconds)},
  {"met_seconds", [](const U& u) { return u.demanding_seconds > 0 ? Json(u.met_seconds) : Json(); }},
  {"conformance", {}, {"CONFORMANCE", conformance}},
  {"met", &U::met},
  {"shape_bytes_per_second", &U::shape_bytes_per_second, {"SHAPE", rate}},
}, counters<U>(InterfaceCount::table(), [](const U& u, auto member) { return u.counters.*member; }));
// clang-format on

}  // namespace surety::fields
