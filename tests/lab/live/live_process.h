// SPDX-License-Identifier: BSD-3-Clause
// Programs that a live run starts: each ended and waited for when its object goes,
// also when this process is killed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace surety::lab {

struct LiveError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class LiveProcess {
 public:
  // Searched in PATH; its standard output and error go to `log`. In a session of its own:
  // Ctrl-C is ours to handle.
  LiveProcess(const std::vector<std::string>& command, const std::string& log);
  ~LiveProcess();
  LiveProcess(const LiveProcess&) = delete;
  LiveProcess& operator=(const LiveProcess&) = delete;

  // Its exit status, 128 + signal when it was killed; none: it still runs.
  std::optional<int> status();
  std::string output() const;  // so far
  // Asks it to end; after `patience` it must.
  void end(std::chrono::milliseconds patience = std::chrono::seconds(5));

 private:
  pid_t pid_;
  std::string log_;
  std::optional<int> status_;
};

// Runs a command to its end, its output in `directory`. Throws LiveError with what
// it said unless it succeeds.
void run_command(const std::vector<std::string>& command, const std::string& directory);

// Looks every 5 ms until `done` says so: true; or `stop` does, or the time is over: false.
bool wait_until(const std::function<bool()>& done, std::chrono::milliseconds patience,
                const std::function<bool()>& stop);

}  // namespace surety::lab
