// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/metrics.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "tests/unit/router/operate/observe/metrics_text.h"
#include "tests/unit/router/operate/observe/sample_reading.h"

namespace surety {
namespace {

using metrics::MetricFamily;
using metrics::MetricType;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string family(const std::string& name, const Reading& reading = test::sample_reading()) {
  return metrics_text::family(render(reading), name);
}

TEST(Metrics, BuildInfo) {
  EXPECT_EQ(family("surety_build_info"),
            "# TYPE surety_build_info gauge\n"
            "surety_build_info{version=\"0.1.0\",router=\"edge1\",config_hash=\"a1b2c3\"} 1\n");
}

TEST(Metrics, RouterWideNumbers) {
  EXPECT_THAT(family("surety_uptime_seconds"), HasSubstr("gauge\nsurety_uptime_seconds 3723.5\n"));
  EXPECT_THAT(family("surety_config_last_reload_successful"),
              HasSubstr("gauge\nsurety_config_last_reload_successful 1\n"));
  EXPECT_THAT(family("surety_config_reloads_total"), HasSubstr("counter\nsurety_config_reloads_total 2\n"));
  EXPECT_THAT(family("surety_config_reload_failures_total"),
              HasSubstr("counter\nsurety_config_reload_failures_total 1\n"));
  EXPECT_THAT(family("surety_config_reload_seconds"),
              HasSubstr("gauge\nsurety_config_reload_seconds 0.125\n"));
  EXPECT_EQ(family("surety_config_reload_seconds", Reading{}), "(no such family)") << "there was none";
  EXPECT_THAT(family("surety_config_last_reload_timestamp_seconds"),
              HasSubstr("gauge\nsurety_config_last_reload_timestamp_seconds 1800000000.5\n"));
  EXPECT_THAT(family("surety_mempool_available"), HasSubstr("gauge\nsurety_mempool_available 16000\n"));
  EXPECT_THAT(family("surety_mempool_size"), HasSubstr("gauge\nsurety_mempool_size 16384\n"));
  EXPECT_THAT(family("surety_routes"), HasSubstr("gauge\nsurety_routes 5\n"));
  EXPECT_THAT(family("surety_routes_rejected"), HasSubstr("gauge\nsurety_routes_rejected 2\n"));
  EXPECT_THAT(family("surety_neighbors"), HasSubstr("gauge\nsurety_neighbors 3\n"));
  EXPECT_THAT(family("surety_flow_table_capacity"), HasSubstr("gauge\nsurety_flow_table_capacity 65536\n"));
}

TEST(Metrics, OfTheProcessByTheUsualNames) {
  EXPECT_THAT(family("process_cpu_seconds_total"), HasSubstr("counter\nprocess_cpu_seconds_total 61.5\n"));
  EXPECT_THAT(family("process_resident_memory_bytes"),
              HasSubstr("gauge\nprocess_resident_memory_bytes 250000000\n"));
  EXPECT_THAT(family("process_start_time_seconds"),
              HasSubstr("gauge\nprocess_start_time_seconds 1799999000\n"));
  EXPECT_THAT(family("process_open_fds"), HasSubstr("gauge\nprocess_open_fds 40\n"));
  EXPECT_THAT(family("process_max_fds"), HasSubstr("gauge\nprocess_max_fds 1024\n"));
}

TEST(Metrics, SpeedAndShapeOfAPortAreThereWhereTheyAreKnown) {
  const auto one = [](const std::string& name, const std::string& series) {
    EXPECT_EQ(family(name), "# TYPE " + name + " gauge\n" + name + series + '\n');
  };
  one("surety_port_speed_bytes_per_second", "{port=\"lan0\"} 125000000");
  one("surety_port_shape_bytes_per_second", "{port=\"wan0\"} 4250000");
}

TEST(Metrics, AFailedReloadShows) {
  Reading r;
  r.last_reload_successful = false;
  EXPECT_THAT(family("surety_config_last_reload_successful", r),
              HasSubstr("\nsurety_config_last_reload_successful 0\n"));
}

TEST(Metrics, PortsByName) {
  const auto both = [](const std::string& name, const std::string& type, const std::string& lan,
                       const std::string& wan) {
    EXPECT_EQ(family(name), "# TYPE " + name + ' ' + type + '\n' + name + "{port=\"lan0\"} " + lan + '\n' +
                                name + "{port=\"wan0\"} " + wan + '\n');
  };
  both("surety_port_rx_packets_total", "counter", "1000", "0");
  both("surety_port_rx_bytes_total", "counter", "590000", "0");
  both("surety_port_tx_packets_total", "counter", "0", "978");
  both("surety_port_tx_bytes_total", "counter", "0", "577020");
  both("surety_port_rx_missed_total", "counter", "7", "0");
  both("surety_port_forwarded_packets_total", "counter", "984", "0");
  both("surety_port_signals_total", "counter", "6", "0");
  both("surety_port_originated_packets_total", "counter", "0", "8");
  both("surety_port_handover_packets", "gauge", "0", "2");
  both("surety_port_enqueued_packets_total", "counter", "0", "990");
  both("surety_port_held_packets", "gauge", "4", "0");
  both("surety_port_queued_packets", "gauge", "0", "10");
  both("surety_port_up", "gauge", "1", "0");
  both("surety_port_link_changes_total", "counter", "3", "0");
}

TEST(Metrics, FiltersByEntry) {
  EXPECT_EQ(family("surety_filter_packets_total"),
            "# TYPE surety_filter_packets_total counter\n"
            "surety_filter_packets_total{filter=\"from-acme\",entry=\"1\",action=\"permit\"} 70\n"
            "surety_filter_packets_total{filter=\"from-acme\",entry=\"default\",action=\"deny\"} 8\n");
}

TEST(Metrics, EveryDropReasonOfEveryPortHasASeries) {
  const std::string lines = family("surety_drops_total");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1 + 2 * static_cast<int>(kDropReasons));
  EXPECT_THAT(
      lines,
      HasSubstr(
          "\nsurety_drops_total{port=\"lan0\",stage=\"condition\",reason=\"buffer\",group=\"policy\"} 3\n"));
  EXPECT_THAT(lines, HasSubstr("\nsurety_drops_total{port=\"lan0\",stage=\"parse\",reason=\"ipv4_checksum\","
                               "group=\"error\"} 1\n"));
  EXPECT_THAT(
      lines,
      HasSubstr("\nsurety_drops_total{port=\"wan0\",stage=\"queue\",reason=\"early\",group=\"policy\"} 2\n"));
  EXPECT_THAT(
      lines,
      HasSubstr(
          "\nsurety_drops_total{port=\"wan0\",stage=\"queue\",reason=\"overflow\",group=\"policy\"} 0\n"));
}

TEST(Metrics, PuntsByReason) {
  const std::string lines = family("surety_punted_packets_total");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1 + 2 * static_cast<int>(kPuntReasons));
  EXPECT_THAT(lines, HasSubstr("counter\nsurety_punted_packets_total{port=\"lan0\",reason=\"arp\"} 2\n"));
}

TEST(Metrics, DegradationsByReason) {
  EXPECT_EQ(family("surety_degraded_packets_total"),
            "# TYPE surety_degraded_packets_total counter\n"
            "surety_degraded_packets_total{port=\"lan0\",reason=\"flow_table_full\"} 0\n"
            "surety_degraded_packets_total{port=\"lan0\",reason=\"flow_share_full\"} 0\n"
            "surety_degraded_packets_total{port=\"lan0\",reason=\"creation_limited\"} 5\n"
            "surety_degraded_packets_total{port=\"wan0\",reason=\"flow_table_full\"} 0\n"
            "surety_degraded_packets_total{port=\"wan0\",reason=\"flow_share_full\"} 0\n"
            "surety_degraded_packets_total{port=\"wan0\",reason=\"creation_limited\"} 0\n");
}

TEST(Metrics, ExceptionsByWayAndResult) {
  const std::string lines = family("surety_exception_frames_total");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1 + 2 * static_cast<int>(kExceptionResults));
  EXPECT_THAT(
      lines,
      HasSubstr("counter\nsurety_exception_frames_total{port=\"lan0\",way=\"up\",result=\"to_twin\"} 2\n"));
  EXPECT_THAT(
      lines,
      HasSubstr("\nsurety_exception_frames_total{port=\"wan0\",way=\"down\",result=\"ring_full\"} 0\n"));
}

TEST(Metrics, WhatThePortsDeviceBringsByClass) {
  EXPECT_EQ(family("surety_kernel_frames_total"),
            "# TYPE surety_kernel_frames_total counter\n"
            "surety_kernel_frames_total{port=\"lan0\",class=\"arp\",result=\"passed\"} 8\n"
            "surety_kernel_frames_total{port=\"lan0\",class=\"arp\",result=\"limited\"} 0\n");
}

TEST(Metrics, TheResponderHasSeriesWhereThereIsOne) {
  EXPECT_EQ(family("surety_responder_frames_total"),
            "# TYPE surety_responder_frames_total counter\n"
            "surety_responder_frames_total{port=\"lan0\",result=\"arp_reply\"} 3\n"
            "surety_responder_frames_total{port=\"lan0\",result=\"malformed\"} 0\n");
  EXPECT_THAT(family("surety_icmp_errors_total"),
              HasSubstr("counter\nsurety_icmp_errors_total{result=\"time_exceeded\"} 4\n"));
}

TEST(Metrics, WhatTheKernelSaidThatCouldNotBeRead) {
  EXPECT_THAT(family("surety_netlink_defects_total"),
              HasSubstr("counter\nsurety_netlink_defects_total{defect=\"cut\"} 2\n"));
}

TEST(Metrics, HandoverMayBeBelowZero) {
  Reading r = test::sample_reading();
  r.ports[1].handover = -3;
  EXPECT_THAT(family("surety_port_handover_packets", r), HasSubstr("{port=\"wan0\"} -3\n"));
}

TEST(Metrics, QueuesByPrecedence) {
  const std::string in = "{port=\"wan0\",queue=\"assured\",precedence=\"in\"} ";
  const std::string out = "{port=\"wan0\",queue=\"assured\",precedence=\"out\"} ";
  const auto assured = [&](const std::string& name, const std::string& type, const std::string& in_value,
                           const std::string& out_value) {
    EXPECT_THAT(family(name), HasSubstr("# TYPE " + name + ' ' + type + '\n' + name + in + in_value + '\n' +
                                        name + out + out_value + '\n'));
  };
  assured("surety_queue_depth_packets", "gauge", "5", "4");
  assured("surety_queue_arrivals_total", "counter", "600", "390");
  assured("surety_queue_departures_total", "counter", "595", "383");
  assured("surety_queue_departed_bytes_total", "counter", "342720", "220608");
  assured("surety_queue_early_drops_total", "counter", "0", "2");
  assured("surety_queue_forced_drops_total", "counter", "0", "1");
  assured("surety_queue_overflow_drops_total", "counter", "0", "0");
  assured("surety_queue_ecn_marks_total", "counter", "0", "5");
}

TEST(Metrics, RedIsAPrecedenceOfQueuesThatHaveIt) {
  Reading r = test::sample_reading();
  QueueReading& q = r.queues[0];
  q.has_red = true;
  q.depth[2] = 3;
  q.counters[2].early_drops = 7;
  (*q.thresholds)[2] = {5, 20, Probability(0.5)};
  const std::string labels = "{port=\"wan0\",queue=\"assured\",precedence=\"red\"";
  EXPECT_THAT(family("surety_queue_depth_packets", r), HasSubstr(labels + "} 3\n"));
  EXPECT_THAT(family("surety_queue_early_drops_total", r), HasSubstr(labels + "} 7\n"));
  EXPECT_THAT(family("surety_queue_threshold_packets", r), HasSubstr(labels + ",bound=\"max\"} 20\n"));
  for (const char* name : {"surety_queue_depth_packets", "surety_queue_early_drops_total"})
    EXPECT_THAT(family(name), Not(HasSubstr("precedence=\"red\""))) << name;
}

TEST(Metrics, QueuesHaveALimit) {
  EXPECT_EQ(family("surety_queue_limit_packets"),
            "# TYPE surety_queue_limit_packets gauge\n"
            "surety_queue_limit_packets{port=\"wan0\",queue=\"assured\"} 200\n"
            "surety_queue_limit_packets{port=\"wan0\",queue=\"control\"} 64\n");
}

TEST(Metrics, AveragesExistWithRioOnly) {
  EXPECT_EQ(family("surety_queue_average_packets"),
            "# TYPE surety_queue_average_packets gauge\n"
            "surety_queue_average_packets{port=\"wan0\",queue=\"assured\",precedence=\"in\"} 4.25\n"
            "surety_queue_average_packets{port=\"wan0\",queue=\"assured\",precedence=\"total\"} 10.5\n");
  EXPECT_EQ(
      family("surety_queue_threshold_packets"),
      "# TYPE surety_queue_threshold_packets gauge\n"
      "surety_queue_threshold_packets{port=\"wan0\",queue=\"assured\",precedence=\"in\",bound=\"min\"} 20\n"
      "surety_queue_threshold_packets{port=\"wan0\",queue=\"assured\",precedence=\"in\",bound=\"max\"} 40\n"
      "surety_queue_threshold_packets{port=\"wan0\",queue=\"assured\",precedence=\"out\",bound=\"min\"} 10\n"
      "surety_queue_threshold_packets{port=\"wan0\",queue=\"assured\",precedence=\"out\",bound=\"max\"} "
      "30\n");
  EXPECT_EQ(family("surety_queue_congested"),
            "# TYPE surety_queue_congested gauge\n"
            "surety_queue_congested{port=\"wan0\",queue=\"assured\"} 1\n"
            "surety_queue_congested{port=\"wan0\",queue=\"control\"} 0\n");
}

TEST(Metrics, SojournIsACumulativeHistogramInRoundSeconds) {
  const std::string lines = family("surety_queue_sojourn_seconds");
  const std::string assured = "surety_queue_sojourn_seconds_bucket{port=\"wan0\",queue=\"assured\",le=\"";
  EXPECT_THAT(lines, StartsWith("# TYPE surety_queue_sojourn_seconds histogram\n"
                                "surety_queue_sojourn_seconds_count{port=\"wan0\",queue=\"assured\"} 100\n"
                                "surety_queue_sojourn_seconds_sum{port=\"wan0\",queue=\"assured\"} 3\n" +
                                assured + "1e-06\"} 1\n" + assured + "2.5e-06\"} 1\n" + assured +
                                "5e-06\"} 1\n" + assured + "1e-05\"} 98\n"));
  EXPECT_THAT(lines, HasSubstr(assured + "0.001\"} 98\n" + assured + "0.0025\"} 99\n"));
  EXPECT_THAT(lines, HasSubstr(assured + "1\"} 99\n" + assured + "2.5\"} 99\n" + assured + "+Inf\"} 100\n"));
}

TEST(Metrics, Services) {
  EXPECT_EQ(family("surety_service_packets_total"),
            "# TYPE surety_service_packets_total counter\n"
            "surety_service_packets_total{service=\"silver\",precedence=\"in\"} 600\n"
            "surety_service_packets_total{service=\"silver\",precedence=\"out\"} 300\n"
            "surety_service_packets_total{service=\"best-effort\",precedence=\"in\"} 0\n"
            "surety_service_packets_total{service=\"best-effort\",precedence=\"out\"} 90\n");
  const auto silver = [](const std::string& name, const std::string& type, const std::string& value) {
    EXPECT_THAT(family(name), HasSubstr("# TYPE " + name + ' ' + type + '\n' + name +
                                        "{service=\"silver\"} " + value + '\n'));
  };
  silver("surety_service_dropped_packets_total", "counter", "3");
  silver("surety_service_held_packets", "gauge", "4");
  silver("surety_service_contracts", "gauge", "10");
  silver("surety_service_committed_bytes_per_second", "gauge", "1250000");
  silver("surety_service_achieved_bytes_per_second", "gauge", "1625000");
  silver("surety_flows", "gauge", "12");
  EXPECT_EQ(family("surety_service_offered_bytes_total"),
            "# TYPE surety_service_offered_bytes_total counter\n"
            "surety_service_offered_bytes_total{service=\"silver\"} 520128\n"
            "surety_service_offered_bytes_total{service=\"best-effort\"} 9000\n");
  EXPECT_THAT(family("surety_service_delivered_bytes_total"),
              HasSubstr("{service=\"silver\",precedence=\"in\"} 344448\n"));
  silver("surety_service_demanding_seconds_total", "counter", "500");
  silver("surety_service_met_seconds_total", "counter", "499");
  silver("surety_service_objective_ratio", "gauge", "0.999");
  EXPECT_THAT(family("surety_service_bytes_total"),
              HasSubstr("{service=\"silver\",precedence=\"out\"} 172800\n"));
}

TEST(Metrics, WhatIsSoldAgainstWhatThereIs) {
  EXPECT_EQ(
      family("surety_sold_bytes_per_second"),
      "# TYPE surety_sold_bytes_per_second gauge\n"
      "surety_sold_bytes_per_second{port=\"wan0\",group=\"\",interface=\"\",queue=\"assured\",direction="
      "\"up\"} "
      "3750000\n"
      "surety_sold_bytes_per_second{port=\"lan0\",group=\"street\",interface=\"homes\",queue=\"\",direction="
      "\"down\"} 1000000\n");
  EXPECT_EQ(
      family("surety_capacity_bytes_per_second"),
      "# TYPE surety_capacity_bytes_per_second gauge\n"
      "surety_capacity_bytes_per_second{port=\"wan0\",group=\"\",interface=\"\",queue=\"assured\",direction="
      "\"up\"} 3000000\n");
  EXPECT_EQ(family("surety_sold_bytes_per_second", Reading{}), "(no such family)");
}

TEST(Metrics, RespectRatioExistsOnlyWithACommitment) {
  EXPECT_EQ(
      family("surety_service_respect_ratio"),
      "# TYPE surety_service_respect_ratio gauge\nsurety_service_respect_ratio{service=\"silver\"} 0.987\n");
}

TEST(Metrics, CongestionControl) {
  EXPECT_THAT(family("surety_csa_alpha_ratio"),
              HasSubstr("gauge\nsurety_csa_alpha_ratio{domain=\"wan0/assured\"} 0.38\n"));
  EXPECT_THAT(family("surety_ard_tpr_bytes_per_second"),
              HasSubstr("gauge\nsurety_ard_tpr_bytes_per_second{aggregate=\"uplink-tcp\"} 2125000\n"));
  EXPECT_THAT(family("surety_ard_remarked_total"),
              HasSubstr("counter\nsurety_ard_remarked_total{aggregate=\"uplink-tcp\"} 11\n"));
  EXPECT_THAT(family("surety_ard_dropped_total"),
              HasSubstr("counter\nsurety_ard_dropped_total{aggregate=\"uplink-tcp\"} 2\n"));
}

TEST(Metrics, CyclesOfWorkersAndStages) {
  EXPECT_EQ(family("surety_worker_cycles_total"),
            "# TYPE surety_worker_cycles_total counter\n"
            "surety_worker_cycles_total{worker=\"1\",state=\"busy\"} 250\n"
            "surety_worker_cycles_total{worker=\"1\",state=\"idle\"} 750\n"
            "surety_worker_cycles_total{worker=\"2\",state=\"busy\"} 0\n"
            "surety_worker_cycles_total{worker=\"2\",state=\"idle\"} 0\n");
  EXPECT_EQ(family("surety_worker_busy_ratio"),
            "# TYPE surety_worker_busy_ratio gauge\n"
            "surety_worker_busy_ratio{worker=\"1\"} 0.25\n");
  EXPECT_EQ(family("surety_worker_flows"),
            "# TYPE surety_worker_flows gauge\n"
            "surety_worker_flows{worker=\"1\"} 9\n"
            "surety_worker_flows{worker=\"2\"} 4\n");
  EXPECT_THAT(family("surety_stage_cycles_total"),
              HasSubstr("\nsurety_stage_cycles_total{stage=\"parse\"} 13000\n"));
  EXPECT_THAT(family("surety_stage_packets_total"),
              HasSubstr("\nsurety_stage_packets_total{stage=\"parse\"} 1000\n"));
}

TEST(Metrics, TopFlowsOnlyWhenTheReadingHasAny) {
  const std::string labels =
      "source=\"10.1.0.1:5001\",destination=\"198.51.100.7:80\",protocol=\"tcp\",service=\"silver\"";
  EXPECT_EQ(family("surety_top_flow_bytes"),
            "# TYPE surety_top_flow_bytes gauge\n"
            "surety_top_flow_bytes{slot=\"0\"," +
                labels + ",precedence=\"in\"} 1500000\n" + "surety_top_flow_bytes{slot=\"0\"," + labels +
                ",precedence=\"out\"} 400\n");
  EXPECT_EQ(family("surety_top_flow_bytes", Reading{}), "(no such family)");
}

TEST(Metrics, NamesAndTypesFollowTheConventions) {
  std::vector<std::string> names;
  for (const MetricFamily& f : render(test::sample_reading())) {
    names.push_back(f.name);
    EXPECT_TRUE(f.name.starts_with("surety_") || f.name.starts_with("process_")) << f.name;
    EXPECT_EQ(f.name.ends_with("_total"), f.type == MetricType::Counter) << f.name;
    EXPECT_TRUE(f.help.ends_with('.')) << f.name;
    EXPECT_FALSE(f.metric.empty()) << f.name;
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

// Dashboards, alerts and recording rules of users hang on these. New families may come between them.
TEST(Metrics, ContractsAreNamedByCustomerServiceAndWhatTheyCover) {
  const std::string acme = "{customer=\"acme\",service=\"silver\",contract=\"acme.7\"";
  EXPECT_THAT(family("surety_contract_committed_bytes_per_second"), HasSubstr(acme + "} 500000\n"));
  EXPECT_THAT(family("surety_contract_offered_bytes_total"), HasSubstr(acme + "} 9000\n"));
  EXPECT_THAT(family("surety_contract_delivered_bytes_total"),
              HasSubstr(acme + ",precedence=\"in\"} 5000\n"));
  EXPECT_THAT(family("surety_contract_dropped_packets_total"), HasSubstr(acme + ",place=\"queue\"} 7\n"));
  EXPECT_THAT(family("surety_contract_held_packets"), HasSubstr(acme + "} 3\n"));
  EXPECT_THAT(family("surety_contract_demanding_seconds_total"), HasSubstr(acme + "} 60\n"));
  EXPECT_THAT(family("surety_contract_met_seconds_total"), HasSubstr(acme + "} 45\n"));
  EXPECT_THAT(family("surety_contract_held_back_seconds_total"), HasSubstr(acme + "} 9\n"));
  EXPECT_THAT(family("surety_contract_objective_ratio"), HasSubstr(acme + "} 0.999\n"));
  EXPECT_THAT(family("surety_contract_objective_ratio"), testing::Not(HasSubstr("globex")));
}

TEST(Metrics, FamiliesKeepTheirNameTypeHelpAndOrder) {
  std::istringstream text(metrics_text::text_of(render(test::sample_reading())));
  std::vector<std::string> rendered;  // "name type help"
  for (std::string line, help; std::getline(text, line);) {
    const std::string rest = line.substr(std::min(line.size(), sizeof "# HELP"));
    if (line.starts_with("# HELP ")) help = rest.substr(rest.find(' '));
    if (line.starts_with("# TYPE ")) rendered.push_back(rest + help);
  }
  std::ifstream file(SURETY_SOURCE_DIR "/tests/unit/router/operate/observe/metrics_families.txt");
  ASSERT_TRUE(file);
  auto at = rendered.begin();
  for (std::string line; std::getline(file, line);) {
    const auto found = std::find(at, rendered.end(), line);
    ASSERT_NE(found, rendered.end()) << line;
    at = found + 1;
  }
}

TEST(Metrics, ARouterWithoutPortsHasNoEmptyFamilies) {
  for (const MetricFamily& f : render(Reading{})) EXPECT_FALSE(f.metric.empty()) << f.name;
  EXPECT_EQ(family("surety_drops_total", Reading{}), "(no such family)");
}

TEST(Metrics, SatisfyPromtool) {
  metrics_text::expect_promtool_finds_nothing(render(test::sample_reading()));
}

}  // namespace
}  // namespace surety
