// SPDX-License-Identifier: BSD-3-Clause
// Handover from a running router to one that has been started beside it: both ends of the protocol.
//
// The protocol uses the telemetry socket, and starts with a command. The new process takes over the old one's
// clock, and makes all that it needs except its ports, while the old process forwards. Then the new process
// sends `take`. The old process stops its workers, sends the state of its contracts' conditioners and the
// addresses it has set in the kernel, and closes its devices (`devices`), then its other exclusive resources
// (`rest`), and waits for `taken`; it ends with `reload` if it has received SIGHUP meanwhile. Until `take`
// the old process continues if the new one fails; afterwards each process ends with an error if the other
// dies, and a supervisor starts the router again.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "router/daemon/control_state.h"
#include "router/daemon/ports/clock.h"
#include "router/operate/observe/reading_json.h"
#include "router/pipeline/flows/contracts.h"
#include "router/process/fd.h"

namespace surety {

inline constexpr std::string_view kHandOver = "hand-over";  // the command; its argument: kHandOverVersion
inline constexpr std::string_view kFacts = "facts";         // argument for facts only, without handover
inline constexpr int kHandOverVersion = 1;

// Facts of the old process that the new one reads first.
struct RouterFacts {
  pid_t process = 0;
  std::string file;  // absolute path of its configuration
  std::string config_hash;
  std::string layout;  // layout of its interfaces, whose numbers are in contracts' keys
  std::size_t workers = 0;
  std::uint64_t dispatch_seed = 0;
  bool hugepages = false;
  bool forwards = false;
  TscClock::Origin clock{};
};
Json to_json(const RouterFacts& facts);
RouterFacts facts_of(const Json& json);

struct HandoverState {
  std::vector<std::vector<ContractState>> contracts;  // indexed by worker
  ControlState known;
  Fd lock;  // lock on the router's name; empty: the old process has died
};

// The old process, for the new one.
class OldProcess {
 public:
  // Throws std::runtime_error if no router of that name answers, or if it cannot hand over.
  explicit OldProcess(const std::string& router);
  const RouterFacts& facts() const { return facts_; }

  // Stops the old process's forwarding and waits until its devices are closed. If the old process dies, the
  // result is empty. Throws std::runtime_error if it does neither.
  HandoverState take();
  void wait_for_rest();
  // Sends `taken`: the old process exits. Does not wait.
  void taken();
  // The old process's last message: true if it received a reload request too late to perform it. nullopt: it
  // is still running.
  std::optional<bool> wants_reload();

 private:
  std::string hear(int* fd = nullptr);  // empty: the old process has died
  RouterFacts facts_;
  Fd socket_;
};

// The new process, for the old one. begin() and takes() may be called by different threads.
class NewProcess {
 public:
  // Takes over the socket of the sender of the command, and answers. Throws std::runtime_error if a handover
  // is running already, or if the version differs.
  void begin(std::string_view version, const RouterFacts& facts, Fd& socket);
  // True while a new process has begun and is alive.
  bool is_there();
  // True if the new process has sent `take`.
  bool takes();
  // The functions below throw std::runtime_error if the new process has died.
  void give(const HandoverState& state, int lock);
  void devices_are_free();
  void rest_is_free();
  void wait_until_taken();
  // Sends the last message, if the new process is still connected.
  void pass_on_reload();

 private:
  void send(std::string_view message, int fd = -1);
  bool lives() const;
  std::mutex mutex_;
  Fd socket_;
};

// Reports the service's new main process to the service manager (sd_notify(3)).
void tell_main_process();

}  // namespace surety
