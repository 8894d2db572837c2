# Tests of the endpoints: what carries flows, the protocols, the configuration and the report, the driver, the kernel's GTCP.
surety_test(unit_endpoints
  unit/arp_test.cc
  unit/cbr_test.cc
  unit/checksum_test.cc
  unit/demux_test.cc
  unit/echo_test.cc
  unit/flow_map_test.cc
  unit/host_test.cc
  unit/ip_writer_test.cc
  unit/iperf3_sink_test.cc
  unit/neighbor_cache_test.cc
  unit/neighbor_discovery_test.cc
  unit/outbox_test.cc
  unit/rejections_test.cc
  unit/reply_limit_test.cc
  unit/slot_bitmap_test.cc
  unit/station_test.cc
  unit/stream_pattern_test.cc
  unit/timer_wheel_test.cc
  unit/udp_sender_test.cc
  unit/udp_sink_test.cc
  unit/wire_udp_test.cc
  LIBS endpoints nlohmann_json::nlohmann_json)

surety_test(unit_dccp
  unit/dccp_features_test.cc
  unit/dccp_feedback_test.cc
  unit/dccp_receiver_test.cc
  unit/dccp_sender_test.cc
  unit/dccp_sequence_test.cc
  unit/dccp_test.cc
  unit/gtfrc_test.cc
  unit/loss_intervals_test.cc
  unit/paced_time_test.cc
  unit/receive_rate_test.cc
  unit/sequence_window_test.cc
  unit/sync_limit_test.cc
  unit/tfrc_equation_test.cc
  unit/tfrc_nofeedback_test.cc
  unit/tfrc_test.cc
  unit/wire_dccp_test.cc
  LIBS endpoints)

surety_test(unit_tcp
  unit/gtcp_test.cc
  unit/newreno_test.cc
  unit/rto_test.cc
  unit/rtt_test.cc
  unit/tcp_acceptor_test.cc
  unit/tcp_golden_test.cc
  unit/tcp_output_test.cc
  unit/tcp_peer_test.cc
  unit/tcp_reassembly_test.cc
  unit/tcp_receiver_hostile_test.cc
  unit/tcp_receiver_test.cc
  unit/tcp_sender_hostile_test.cc
  unit/tcp_sender_test.cc
  unit/tcp_sender_transfer_test.cc
  unit/tcp_timers_test.cc
  unit/tcp_transfer_test.cc
  unit/wire_tcp_test.cc
  LIBS endpoints)

surety_test(unit_endpoints_config
  unit/config_address_test.cc
  unit/endpoints_schema_test.cc
  unit/flow_track_test.cc
  unit/parse_endpoints_test.cc
  unit/report_test.cc
  LIBS config_endpoints endpoints_report nlohmann_json::nlohmann_json)

surety_test(unit_endpoints_drive
  unit/eal_main.cc
  unit/accepted_flows_test.cc
  unit/endpoint_metrics_test.cc
  unit/endpoint_worker_test.cc
  unit/live_table_test.cc
  unit/observer_test.cc
  unit/pacing_meter_test.cc
  unit/sampler_test.cc
  unit/traffic_test.cc
  LIBS endpoints_drive)

surety_test(unit_gtcp_linux
  unit/gtcp_attach_test.cc
  unit/gtcp_reservations_test.cc
  unit/gtcp_status_test.cc
  unit/gtcp_window_test.cc
  LIBS gtcp_linux)
