// SPDX-License-Identifier: BSD-3-Clause
// A router that ends hands over to one that has been started beside it: both ends of the conversation.
//
// It goes over the telemetry socket, whose command begins it. The new one learns the old one's clock, and
// makes all that it needs but its ports; the old one goes on forwarding. Then the new one says `take`: the
// old one stops its workers, gives what its contracts' conditioners know and the addresses it has given the
// kernel, and frees its devices (`devices`), then what else stood in the new one's way (`rest`), and waits
// for `taken`; it ends with `reload` where SIGHUP has come meanwhile. Until `take` the old one goes on,
// whatever becomes of the new one; afterwards one of the two ends with an error where the other is not there
// any more, for a supervisor to start the router again.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "router/contracts/contract_state.h"
#include "router/dpdk/control.h"
#include "router/dpdk/ports/clock.h"
#include "router/observe/reading_json.h"
#include "router/process/fd.h"

namespace surety {

inline constexpr std::string_view kHandOver = "hand-over";  // the command; its argument: kHandOverVersion
inline constexpr std::string_view kFacts = "facts";         // its other argument: only tells
inline constexpr int kHandOverVersion = 1;

// What a successor must know before it makes anything.
struct RouterFacts {
  pid_t process = 0;
  std::string file;  // its configuration, in full
  std::string config_hash;
  std::string layout;  // of its interfaces, whose numbers are in contracts' keys
  std::size_t workers = 0;
  std::uint64_t dispatch_seed = 0;
  bool hugepages = false;
  bool forwards = false;
  TscClock::Origin clock{};
};
Json to_json(const RouterFacts& facts);
RouterFacts facts_of(const Json& json);

struct Heritage {
  std::vector<std::vector<ContractState>> contracts;  // by worker
  Control::Known known;
  Fd lock;  // of the router's name; none: the old one has died
};

// The old one, as the new one sees it.
class Predecessor {
 public:
  // Throws std::runtime_error where no router of that name answers, or it cannot hand over.
  explicit Predecessor(const std::string& router);
  const RouterFacts& facts() const { return facts_; }

  // From here on it forwards no more, and its devices are free: it has closed them, or has died; then all
  // else that it had has died with it, and is empty. Throws std::runtime_error where it does neither.
  Heritage take();
  void wait_for_rest();
  // It may go. Does not wait.
  void taken();
  // Its last word: whether it was asked for a reload that it could not do any more. None: it is still there.
  std::optional<bool> wants_reload();

 private:
  std::string hear(int* fd = nullptr);  // empty: it has died
  RouterFacts facts_;
  Fd socket_;
};

// The new one, as the old one sees it. begin() and takes() may be called by different threads.
class Successor {
 public:
  // Takes the socket of who has given the command, and answers. Throws std::runtime_error where there is one
  // already, and where he speaks another version.
  void begin(std::string_view version, const RouterFacts& facts, Fd& socket);
  // Whether there is one that has begun and still lives.
  bool is_there();
  // Whether it wants to take over now.
  bool takes();
  // All of these throw std::runtime_error where it is not there any more.
  void give(const Heritage& heritage, int lock);
  void devices_are_free();
  void rest_is_free();
  void wait_until_taken();
  // The last word, to whoever still listens.
  void pass_on_reload();

 private:
  void send(std::string_view message, int fd = -1);
  bool lives() const;
  std::mutex mutex_;
  Fd socket_;
};

// Where a service manager (sd_notify(3)) waits to hear which process is the service's first one now.
void tell_main_process();

}  // namespace surety
