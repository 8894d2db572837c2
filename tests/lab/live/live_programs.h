// SPDX-License-Identifier: BSD-3-Clause
// The programs of a live run: where they are, and how one is started in its namespace.
#pragma once

#include <string>
#include <vector>

#include "router/operate/observe/reading_json.h"
#include "tests/lab/live/live_layout.h"
#include "tests/lab/live/live_process.h"

namespace surety::lab {

// `surety` or `surety-endpoint`: as the environment says (SURETY, SURETY_ENDPOINT), else beside this program.
std::string surety_program();
std::string endpoint_program();

// A running `surety run`.
class LiveRouter {
 public:
  // Its configuration and log go into `directory`.
  LiveRouter(const Plan& plan, const LiveLayout& layout, std::size_t router, unsigned core,
             const std::string& directory);
  ~LiveRouter();
  LiveRouter(const LiveRouter&) = delete;
  LiveRouter& operator=(const LiveRouter&) = delete;

  const std::string& node() const { return node_; }
  void check();                  // throws LiveError when it has ended
  bool answers();                // the same; true: it forwards
  Json table(const char* what);  // of `surety show`; throws LiveError
  std::uint64_t missed();        // frames that it was too slow to take

 private:
  std::string node_, name_;
  LiveProcess process_;
};

// The key of the run's signals, into `directory`, for nobody else to read. Throws LiveError.
void write_key_file(const std::string& directory);

// `surety-endpoint run` with all hosts; writes its report into `directory`.
class LiveEndpoints {
 public:
  LiveEndpoints(const Plan& plan, const LiveLayout& layout, std::uint64_t seed, const std::string& directory);

  bool started();  // its clock runs; throws LiveError when it has ended too soon
  bool ended() { return process_.status().has_value(); }
  std::string report();  // throws LiveError when there is none

 private:
  std::string directory_;
  LiveProcess process_;
};

}  // namespace surety::lab
