// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include "endpoints/report/report.h"

namespace surety::endpoints {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& v) {
  return v ? Json(*v) : Json();
}
Json or_null(const std::optional<Duration>& v) {
  return v ? Json(static_cast<double>(v->count()) / 1e9) : Json();  // the double nearest to it
}
Json measured(const FlowResult& f, Rate r) {
  return f.arrival_known ? Json(r.bits_per_second()) : Json();
}

Json row(const FlowResult& f, double tolerance) {
  const bool promised = f.identity.target > Rate{};
  return {{"name", f.identity.name},
          {"protocol", f.identity.protocol},
          {"peer", f.identity.peer},
          {"target_bps", promised ? Json(f.identity.target.bits_per_second()) : Json()},
          {"duration_s", f.seconds},
          {"delivered_bps", measured(f, f.delivered)},
          {"throughput_bps", measured(f, f.throughput)},
          {"goodput_bps", measured(f, f.goodput)},
          {"sent_packets", f.sent},
          {"received_packets", f.received},
          {"lost_packets", f.lost},
          {"retransmitted_packets", f.retransmitted},
          {"duplicate_packets", f.duplicates},
          {"payload_bytes", f.payload},
          {"mismatched_bytes", f.mismatched},
          {"in_share", or_null(f.in_share)},
          {"ros", or_null(f.respect)},
          {"time_to_target_s", or_null(f.time_to_target)},
          {"rtt_mean_s", or_null(f.rtt)},
          {"rtt_min_s", or_null(f.min_rtt)},
          {"one_way_delay_mean_s", or_null(f.one_way_delay)},
          {"loss_event_rate", or_null(f.loss_event_rate)},
          {"state", f.state},
          {"failure", f.failure},
          {"kept", promised ? Json(f.kept(tolerance)) : Json()}};
}

Json rows(const std::vector<FlowResult>& flows, double tolerance) {
  Json all = Json::array();
  for (const auto& f : flows) all.push_back(row(f, tolerance));
  return all;
}

}  // namespace

std::string Report::json() const {
  Json refused = Json::object();
  for (std::size_t i = 0; i < kRefusals; ++i) {
    if (refusals[i] > 0) refused[std::string(kRefusalInfo[i].name)] = refusals[i];
  }
  const Json all = {{"version", 1},
                    {"duration_s", seconds},
                    {"tolerance", tolerance},
                    {"kept", kept()},
                    {"flows", rows(flows, tolerance)},
                    {"accepted", rows(accepted, tolerance)},
                    {"refusals", std::move(refused)}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace surety::endpoints
