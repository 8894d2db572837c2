// SPDX-License-Identifier: BSD-3-Clause
// A whole router: ports, data plane, control, what it shows of itself. Made from a checked configuration.
//
// The constructor opens everything or throws (std::runtime_error: one sentence with the fix); run() forwards
// until it is told to stop, drains and returns.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "config/changes.h"
#include "config/parse.h"
#include "config/port_places.h"
#include "router/dpdk/control.h"
#include "router/dpdk/control_reading.h"
#include "router/dpdk/control_tables.h"
#include "router/dpdk/hand_over.h"
#include "router/dpdk/phases.h"
#include "router/dpdk/port_set.h"
#include "router/dpdk/ports/buffer_plan.h"
#include "router/dpdk/ports/eal.h"
#include "router/dpdk/ports/pools.h"
#include "router/dpdk/ports/process_lock.h"
#include "router/dpdk/process_log.h"
#include "router/dpdk/watchdog.h"
#include "router/dpdk/workers/fabric.h"
#include "router/dpdk/workers/forwarding.h"
#include "router/dpdk/workers/worker.h"
#include "router/generations/store.h"
#include "router/observe/busy_ratios.h"
#include "router/observe/capture/capture_server.h"
#include "router/observe/contract_watch.h"
#include "router/observe/interface_rows.h"
#include "router/observe/limit_events.h"
#include "router/observe/promise_events.h"
#include "router/observe/report_log.h"
#include "router/observe/service_rates.h"
#include "router/observe/telemetry_server.h"
#include "router/observe/top_flows.h"
#include "router/process/confinement.h"
#include "router/process/metrics_server.h"
#include "router/process/process_use.h"
#include "router/process/service_manager.h"
#include "router/snapshot.h"

namespace surety {

struct Arrival;
struct Question;
struct Traces;

class Router {
 public:
  // The EAL must have been started by `plan`. `file`: where `config` stands, and is read again for a reload.
  // `log` outlives this. `lock`: of the router's name; null: `predecessor` has it,
  // and gives it with its ports.
  Router(config::Config config, const EalPlan& plan, std::string file, std::string config_hash,
         ProcessLog& log, std::unique_ptr<ProcessLock> lock, std::unique_ptr<Predecessor> predecessor);

  // Forwards until `stop` is set (by a signal handler or another thread). Where `reload` is set, takes that
  // away, reads the configuration and the key file of the signalling again, and goes on by them; by those
  // before, where there is anything wrong. Nothing is dropped because of it.
  void run(const std::atomic<bool>& stop, std::atomic<bool>& reload);
  // Gives back what outlives the process: devices, addresses, sockets. A router is not destroyed: its tables
  // and buffers the kernel takes in a moment, where to free them takes half a second.
  void close();

  // Everything the router counts, consistent (reading.h). From any thread.
  Reading read();
  // What would become of a packet (router/observe/explain/question.h). From any thread but run()'s. Throws
  // std::runtime_error where there can be no such packet, or nobody answers.
  Json explain(std::string_view question);
  // Packets as they come and go (router/observe/capture/capture_request.h), by the socket, which it takes.
  // The same.
  void capture(std::string_view request, Fd& socket);
  // Its configuration is asked for and changed (router/generations/changes_schema.json). The same.
  TelemetryServer::Commands changes();

 private:
  struct FreeRing {
    void operator()(rte_ring* r) const { rte_ring_free(r); }
  };
  bool inject(PortIndex port, rte_mbuf* m);
  static config::Config with_macs(config::Config c);
  static std::vector<Rate> committed(const Snapshot& s);
  static double unix_seconds();
  // router_reload.cc
  void load_keys(const config::Config& config);
  void reload();
  void attempt(const std::function<bool()>& what);
  void refused(const std::string& reason);
  void tell_reloaded(const std::string& hash, const std::vector<config::Change>& changes);
  bool take_over(const std::string& file);
  bool adopt(config::Config config, const std::string& hash, const config::Tree& tree);
  void find_buffers(const config::Config& config);
  void tell_held() const;
  void go_on_by(config::Config config, const config::PortPlaces& places);
  void publish(std::unique_ptr<Snapshot> next, std::vector<std::unique_ptr<WorkerUpdate>> updates,
               WorkPlan plan);
  bool updated() const;
  // router_changes.cc
  struct Trial {
    config::Config before;  // what it goes back to
    std::string before_hash, hash, who;
    Time until{};
    double until_unix = 0;
    bool installing = false;  // who applies it is about to put it into the file
  };
  Json between_rounds(const std::function<Json()>& what);
  Json changes_status() const;
  config::ParseResult parse(const std::string& file, const config::Config* running) const;
  Json judge(const std::string& file) const;
  Json try_out(std::string_view wanted);
  Json confirm();
  Json installed();
  Json answer_reload(std::string_view who);
  Json answer(bool in_effect) const;
  bool is_installed(const std::string& hash) const;
  bool end_trial(bool by_itself);
  void go_back(bool by_itself);
  void open_store();
  void keep_generation();
  void remember(std::string who, std::string how, Json changes, bool staged_is_taken = false);
  // router_explain.cc
  Arrival find_flow(const Question& question);
  void trace_ingress(Traces& traces);
  void trace_route(Traces& traces);
  void trace_queues(Traces& traces);
  // router_ports.cc
  class Opening;
  void open_waiting();
  void change_devices(const config::Config& next);
  WorkPlan next_plan(const config::Config& next) const;
  void withdraw(const config::Config& next);
  void close_devices();
  void open_or_miss(std::size_t place);
  void open_appeared();
  bool may_appear(const config::Port& port) const;
  void settle();
  void forget_counts() const;
  void open_ports();
  void make_workers();
  void launch();
  void stop_workers(Duration drain);
  void start_observers();
  WebPages console();
  std::vector<Watchdog::Watched> watched();
  void confine();
  void tell_start();
  std::string without() const;
  std::string advice() const;
  void tell_status(std::size_t contracts);
  void tick();
  void sample_contracts();
  // router_hand_over.cc
  RouterFacts facts();
  Heritage inherit();
  bool may_restore(const Heritage& heritage) const;
  void restore_contracts(const Heritage& heritage);
  void hear_predecessor(std::atomic<bool>& reload);
  void hand_over(const std::atomic<bool>& reload);
  void keep_report();
  void keep_minute(Minute now, const std::optional<Reading>& workers);
  std::vector<ContractMinute> minute_rows(const std::optional<Reading>& workers);
  std::vector<InterfaceReading> interfaces() const;
  std::optional<Reading> read_workers();

  Phases starting_;  // from here on
  std::unique_ptr<ProcessLock> lock_;
  std::unique_ptr<Predecessor> predecessor_;  // until it has gone
  Successor successor_;
  ProcessLog& log_;
  EventLog& events_ = log_.events();
  LimitEvents limits_{events_};
  PromiseEvents promises_{events_};
  config::Config written_;  // at the start, with the ports of now; what cannot change of it, did not
  config::Config running_;  // as it is written
  const std::string file_, whole_file_;  // as it was given, and in full
  config::PortPlaces places_;
  std::unique_ptr<Snapshot> before_, snapshot_;  // before_: until all workers are updated()
  EalPlan plan_;
  std::string config_hash_, fall_back_hash_;
  Pools pools_;
  PortSet ports_;
  bool waiting_ = false;            // there are ports whose devices others had when they came
  std::string appearance_trouble_;  // why a device that has come was not opened
  config::Config fall_back_;        // the one before running_: it is taken again if these cannot be opened
  Forwarding forwarding_;
  std::unique_ptr<rte_ring, FreeRing> punts_;
  std::deque<SignalKeys> signal_keys_;  // the last ones are in use; those before, workers may still look at
  const TscClock clock_;
  const std::uint64_t dispatch_seed_;
  WallClock wall_clock_;
  WorkPlan work_;
  std::unique_ptr<Fabric> fabric_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<WorkerUpdate>> updates_;  // by worker: of the last reload
  std::vector<TopFlows> top_;                           // by worker
  std::optional<ContractWatch> contracts_;              // of all workers
  std::mutex workers_mutex_;                            // who reads them, or has them updated
  std::unique_ptr<Control> control_;
  ControlTables tables_;  // of the control thread
  Errands control_errands_;
  enum class Stage { begins, forwards, ends };
  std::atomic<Stage> stage_{Stage::begins};  // changes are made while it forwards
  std::atomic<std::uint64_t> rounds_{0};     // of the control thread
  std::optional<Trial> trial_;               // what it goes by is not installed yet
  Json went_back_;                           // of the last one: when, whose, and whether by itself
  std::vector<config::Diagnostic> said_;     // of the last configuration that was read
  std::string refusal_;                      // why it was not taken, if no line is to blame
  Json changed_ = Json::array();             // by the last one that was taken
  Store store_;
  std::string store_trouble_;
  struct Unkept {
    ConfigTree tree;
    Generation about;
    bool staged_is_taken;  // and who staged it does not come back
  };
  std::optional<Unkept> unkept_;  // goes into the store when nobody else changes it
  std::unique_ptr<TelemetryServer> telemetry_;
  std::unique_ptr<CaptureServer> capture_;
  std::unique_ptr<MetricsServer> metrics_;
  std::optional<Confinement> confinement_;
  ServiceManager manager_;

  std::mutex shown_mutex_;  // of what follows: written once a second, read by observers
  ServiceRates rates_;
  ContractBook book_;
  std::unique_ptr<ReportLog> report_;  // what the contracts got, minute by minute; null: off
  Minute minute_ = 0;                  // since when the book counts
  std::string report_trouble_;
  ShaperMinutes shapers_;
  std::shared_ptr<const Interfaces> shown_interfaces_;
  std::shared_ptr<const std::vector<config::Sale>> sold_;
  std::vector<FlowReading> top_flows_;
  ControlReading control_reading_;
  BusyRatios busy_;
  ProcessMeter process_;
  std::uint64_t reloads_ = 0, reload_failures_ = 0;
  std::optional<double> reload_seconds_;
  double reloaded_;  // when, of the day
  bool last_reload_successful_ = true;
  Reading last_;  // if a worker should not answer
};

}  // namespace surety
