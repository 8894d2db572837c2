// SPDX-License-Identifier: BSD-3-Clause
// A whole router: ports, data plane, control, observability. Made from a checked configuration.
//
// The constructor opens everything or throws (std::runtime_error: one sentence with the fix); run() forwards
// until `stop` is set, drains and returns.
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
#include "config/reload.h"
#include "router/daemon/control.h"
#include "router/daemon/control_reading.h"
#include "router/daemon/control_tables.h"
#include "router/daemon/hand_over.h"
#include "router/daemon/phases.h"
#include "router/daemon/port_set.h"
#include "router/daemon/ports/eal.h"
#include "router/daemon/ports/memory_plan.h"
#include "router/daemon/ports/packet_pool.h"
#include "router/daemon/ports/process_lock.h"
#include "router/daemon/process_log.h"
#include "router/daemon/watchdog.h"
#include "router/daemon/workers/shared.h"
#include "router/daemon/workers/worker.h"
#include "router/operate/capture/capture_server.h"
#include "router/operate/generations/store.h"
#include "router/operate/observe/episodes.h"
#include "router/operate/observe/flow_watch.h"
#include "router/operate/observe/reading_merge.h"
#include "router/operate/observe/report.h"
#include "router/operate/observe/service_rates.h"
#include "router/operate/observe/telemetry_server.h"
#include "router/pipeline/snapshot.h"
#include "router/process/confinement.h"
#include "router/process/metrics_server.h"
#include "router/process/service_manager.h"
#include "router/process/this_process.h"

namespace surety {

struct Arrival;
struct Question;
struct Traces;

class Router {
 public:
  // `plan`: the EAL must have been started with it. `file`: path of `config`, read again on a reload. `log`
  // must outlive this object. `lock`: on the router's name; nullptr: `old_process` has it, and passes it on
  // with its ports.
  Router(config::Config config, const EalPlan& plan, std::string file, std::string config_hash,
         ProcessLog& log, std::unique_ptr<ProcessLock> lock, std::unique_ptr<OldProcess> old_process);

  // Forwards until `stop` is set (by a signal handler or another thread). If `reload` is set, resets it and
  // reads the configuration and the signalling key file again; on any error both stay as they are. A reload
  // drops no packet.
  void run(const std::atomic<bool>& stop, std::atomic<bool>& reload);
  // Releases everything that outlives the process: devices, addresses, sockets. A router is not destroyed:
  // the kernel frees its tables and buffers in a moment, which would take half a second here.
  void close();

  // Everything the router counts, consistent (reading.h). Thread-safe.
  Reading read();
  // Traces what would happen to a packet (router/operate/explain/explain.h). From any thread but run()'s.
  // Throws std::runtime_error if such a packet is impossible, or if the workers do not answer.
  Json explain(std::string_view question);
  // Captures packets (router/operate/capture/capture_server.h) to the socket, which it takes over. Threads
  // as explain().
  void capture(std::string_view request, Fd& socket);
  // Commands that read and change the configuration (router/operate/generations/changes_schema.json). Threads
  // as explain().
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
    config::Config before;  // configuration to return to
    std::string before_hash, hash, who;
    Time until{};
    double until_unix = 0;
    bool installing = false;  // the client that applies it is about to install the file
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
  HandoverState inherit();
  bool may_restore(const HandoverState& state) const;
  void restore_contracts(const HandoverState& state);
  void hear_predecessor(std::atomic<bool>& reload);
  void hand_over(const std::atomic<bool>& reload);
  void keep_report();
  void keep_minute(Minute now, const std::optional<Reading>& workers);
  std::vector<ContractMinute> minute_rows(const std::optional<Reading>& workers);
  std::vector<InterfaceReading> interfaces() const;
  std::optional<Reading> read_workers();

  Phases starting_;  // start of the time measured
  std::unique_ptr<ProcessLock> lock_;
  std::unique_ptr<OldProcess> old_process_;  // set until the old process has ended
  NewProcess new_process_;
  ProcessLog& log_;
  EventLog& events_ = log_.events();
  LimitEvents limits_{events_};
  PromiseEvents promises_{events_};
  config::Config written_;  // configuration at start, with the current ports; authoritative for settings that
                            // need a restart
  config::Config running_;  // configuration in force, as the operator wrote it
  const std::string file_, whole_file_;  // path as given, and absolute
  config::PortPlaces places_;
  std::unique_ptr<Snapshot> before_, snapshot_;  // before_: until all workers are updated()
  EalPlan plan_;
  std::string config_hash_, fall_back_hash_;
  Pools pools_;
  PortSet ports_;
  bool waiting_ = false;            // devices of new ports were in use by others
  std::string appearance_trouble_;  // why a device that appeared was not opened
  config::Config
      fall_back_;  // the configuration before running_: used again if devices of running_ cannot be opened
  Forwarding forwarding_;
  std::unique_ptr<rte_ring, FreeRing> punts_;
  std::deque<SignalKeys> signal_keys_;  // the last entry is in use; workers may still read earlier ones
  const TscClock clock_;
  const std::uint64_t dispatch_seed_;
  WallClock wall_clock_;
  WorkPlan work_;
  std::unique_ptr<Fabric> fabric_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<WorkerUpdate>> updates_;  // updates of the last reload, indexed by worker
  std::vector<TopFlows> top_;                           // indexed by worker
  std::optional<ContractWatch> contracts_;              // over all workers
  std::mutex workers_mutex_;                            // held to read or update workers
  std::unique_ptr<Control> control_;
  ControlTables tables_;  // copies of the control thread's tables
  RemoteCall control_call_;
  enum class Stage { begins, forwards, ends };
  std::atomic<Stage> stage_{Stage::begins};  // changes are accepted in stage `forwards`
  std::atomic<std::uint64_t> rounds_{0};     // rounds of the control thread
  std::optional<Trial> trial_;               // set while the configuration in force is not installed
  Json went_back_;                           // last rollback: time, author, whether it timed out
  std::vector<config::Diagnostic> said_;     // diagnostics of the last configuration read
  std::string refusal_;                      // why it was refused, if no line is to blame
  Json changed_ = Json::array();             // changes of the last configuration adopted
  Store store_;
  std::string store_trouble_;
  struct Unkept {
    ConfigTree tree;
    Generation about;
    bool staged_is_taken;  // true: its author does not store it again
  };
  std::optional<Unkept> unkept_;  // stored when no other process is changing the store
  std::unique_ptr<TelemetryServer> telemetry_;
  std::unique_ptr<CaptureServer> capture_;
  std::unique_ptr<MetricsServer> metrics_;
  std::optional<Confinement> confinement_;
  ServiceManager manager_;

  std::mutex shown_mutex_;  // guards the members below: written once a second, read by observers
  ServiceRates rates_;
  ContractBook book_;
  std::unique_ptr<ReportLog> report_;  // per-minute report of contracts; nullptr: off
  Minute minute_ = 0;                  // start of the book's interval
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
  double reloaded_;  // time of day, Unix seconds
  bool last_reload_successful_ = true;
  Reading last_;  // used if a worker does not answer
};

}  // namespace surety
