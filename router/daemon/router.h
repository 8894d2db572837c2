// SPDX-License-Identifier: BSD-3-Clause
// A whole router: forwarding plane, control, observability. Made from a checked configuration.
//
// The constructor opens everything or throws (std::runtime_error: one sentence with the fix); run() forwards
// until `stop` is set, drains and returns.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "router/daemon/phases.h"
#include "router/daemon/workers/remote_call.h"
#include "router/process/service_manager.h"
#include "router/process/this_process.h"

namespace surety {

class Confinement;
class ConfigHistory;
class Control;
class ControlTables;
class ForwardingPlane;
class Observatory;
class OldProcess;
class ProcessLock;
class ProcessLog;
class Reconfiguration;
class Servers;
class Succession;
class Trial;
struct EalPlan;
struct RouterFacts;
namespace config {
struct Config;
}

class Router {
 public:
  // `plan`: the EAL must have been started with it. `file`: path of `config`, read again on a reload. `log`
  // must outlive this object. `lock`: on the router's name; nullptr: `old_process` has it, and passes it on
  // with its ports.
  Router(config::Config config, const EalPlan& plan, std::string file, std::string config_hash,
         ProcessLog& log, std::unique_ptr<ProcessLock> lock, std::unique_ptr<OldProcess> old_process);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  // Forwards until `stop` is set (by a signal handler or another thread). If `reload` is set, resets it and
  // reads the configuration and the signalling key file again; on any error both stay as they are. A reload
  // drops no packet.
  void run(const std::atomic<bool>& stop, std::atomic<bool>& reload);
  // Releases everything that outlives the process: devices, addresses, sockets. A router is not destroyed:
  // the kernel frees its tables and buffers in a moment, which would take half a second here.
  void close();

 private:
  void make_trial();
  RouterFacts facts();
  void open_servers();
  void between_rounds(const std::function<void()>& what);
  void confine();
  void round(bool& more, std::atomic<bool>& reload);
  void tick();
  void end(bool handing_over);
  void tell_start();
  void tell_status(std::size_t contracts);
  std::string without() const;
  std::string advice() const;

  Phases starting_;  // start of the time measured
  ProcessLog& log_;
  const std::string file_, whole_file_;  // path as given, and absolute
  std::unique_ptr<Succession> succession_;
  std::unique_ptr<ForwardingPlane> plane_;
  std::unique_ptr<Observatory> observatory_;
  std::unique_ptr<Control> control_;
  std::unique_ptr<ControlTables> tables_;  // copies of the control thread's tables
  RemoteCall control_call_;
  std::unique_ptr<ConfigHistory> history_;
  std::unique_ptr<Reconfiguration> reconfiguration_;
  std::unique_ptr<Trial> trial_;
  std::unique_ptr<Servers> servers_;  // declared after what its threads use
  std::unique_ptr<Confinement> confinement_;
  ServiceManager manager_;
  enum class Stage { begins, forwards, ends };
  std::atomic<Stage> stage_{Stage::begins};  // changes are accepted in stage `forwards`
  std::atomic<std::uint64_t> rounds_{0};     // rounds of the control thread
};

}  // namespace surety
