# Tests of tests/lab/: a file is a line.
surety_test(unit_lab
  unit/lab_main.cc
  unit/lab_event_tree_test.cc
  unit/lab_flow_of_test.cc
  unit/lab_line_test.cc
  unit/lab_network_test.cc
  unit/lab_plan_test.cc
  unit/lab_progress_test.cc
  unit/lab_run_points_test.cc
  unit/lab_run_printer_test.cc
  unit/lab_scale_out_test.cc
  unit/lab_signalling_test.cc
  unit/lab_sweep_test.cc
  LIBS lab_run lab lab_results)

# Starting DPDK itself, in processes of their own.
surety_test(unit_lab_dpdk
  unit/lab_dpdk_test.cc
  unit/lab_interrupt_test.cc
  unit/lab_runner_test.cc
  LIBS lab lab_results)

# The product's own objects against closed forms, and against themselves driven otherwise.
surety_test(unit_lab_equivalence
  unit/eal_main.cc
  unit/lab_analytic_md1_test.cc
  unit/lab_analytic_rio_test.cc
  unit/lab_analytic_token_bucket_test.cc
  unit/lab_equivalence_burst_test.cc
  unit/lab_equivalence_worker_test.cc
  LIBS lab lab_results router_worker router_dpdk router_linux)

surety_test(unit_lab_scenario
  unit/lab_node_json_test.cc
  unit/lab_scenario_hosts_test.cc
  unit/lab_scenario_links_test.cc
  unit/lab_scenario_routes_test.cc
  unit/lab_scenario_routers_test.cc
  unit/lab_scenario_schema_test.cc
  unit/lab_scenario_senders_test.cc
  unit/lab_scenario_settings_test.cc
  unit/lab_scenario_test.cc
  LIBS lab_scenario nlohmann_json::nlohmann_json)

surety_test(unit_lab_results
  unit/lab_html_page_test.cc
  unit/lab_html_report_test.cc
  unit/lab_pcapng_test.cc
  unit/lab_plot_scale_test.cc
  unit/lab_plot_thin_test.cc
  unit/lab_report_plots_test.cc
  unit/lab_result_csv_test.cc
  unit/lab_result_json_test.cc
  unit/lab_result_text_test.cc
  unit/lab_spread_test.cc
  unit/lab_statistics_test.cc
  unit/lab_svg_plot_test.cc
  LIBS lab_results)

surety_test(unit_lab_papers
  unit/lab_experiment_band_test.cc
  unit/lab_experiment_rows_test.cc
  unit/lab_experiment_test.cc
  unit/lab_expression_path_test.cc
  unit/lab_expression_test.cc
  unit/lab_expression_value_test.cc
  unit/lab_papers_report_test.cc
  unit/lab_papers_run_collect_test.cc
  unit/lab_papers_run_files_test.cc
  unit/lab_papers_run_test.cc
  unit/lab_papers_text_test.cc
  LIBS lab_papers)

surety_test(unit_lab_live
  unit/lab_main.cc
  unit/lab_live_compare_test.cc
  unit/lab_live_config_test.cc
  unit/lab_live_delay_line_test.cc
  unit/lab_live_layout_test.cc
  unit/lab_live_limits_test.cc
  unit/lab_live_process_test.cc
  unit/lab_live_report_test.cc
  LIBS lab_live)
