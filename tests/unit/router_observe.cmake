# Tests of what renders a reading: metrics, telemetry's wire form and client, `surety show`.
surety_test(unit_router_observe
  unit/human_test.cc
  unit/metrics_congestion_test.cc
  unit/metrics_server_test.cc
  unit/metrics_test.cc
  unit/reading_json_test.cc
  unit/reading_merge_test.cc
  unit/show_columns_test.cc
  unit/show_signalling_test.cc
  unit/show_test.cc
  unit/telemetry_client_test.cc
  unit/telemetry_wire_test.cc
  unit/text_table_test.cc
  LIBS router_observe)

# With a main() of its own: this one needs an EAL with telemetry.
surety_test(unit_telemetry
  unit/telemetry_test.cc
  ${CMAKE_SOURCE_DIR}/router/dpdk/telemetry.cc
  LIBS router_observe dpdk)
