// SPDX-License-Identifier: BSD-3-Clause
// The measurements of a router: it takes a sample each second, and gives readings at any time.
//
// The control thread samples and changes, any thread reads.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "router/daemon/control_reading.h"
#include "router/daemon/ports/work_plan.h"
#include "router/operate/observe/contract_book.h"
#include "router/operate/observe/episodes.h"
#include "router/operate/observe/reading_merge.h"
#include "router/operate/observe/report.h"
#include "router/operate/observe/service_rates.h"
#include "router/pipeline/signals/unix_time.h"
#include "router/process/this_process.h"

namespace surety {

class ForwardingPlane;
struct Snapshot;

// The report of contracts and shapers, minute by minute. Off until open().
class MinuteReport {
 public:
  // `directory`: empty leaves it off, as does a directory that cannot be made, with a warning.
  void open(const std::filesystem::path& directory, std::uint64_t limit_bytes);
  // Empty: the report is off.
  const std::filesystem::path& directory() const { return directory_; }
  // True if the minute that is counted has ended. A second that began in it counts for it.
  bool is_over(Minute now) const { return log_ && now != minute_; }
  // Stores the rows of the minute that has ended, and begins the next one.
  void begin(Minute now, std::vector<ContractMinute> rows);
  // Stores the rows of the last minute.
  void end(std::vector<ContractMinute> rows);
  bool counts() const { return minute_ != 0; }

 private:
  std::filesystem::path directory_;
  std::unique_ptr<ReportLog> log_;
  Minute minute_ = 0;  // the minute that is counted; 0: none
  std::string trouble_;
};

class Observatory {
 public:
  // Properties of the configuration in force that readings show.
  struct View {
    View(const Snapshot& snapshot, WorkPlan plan);
    std::vector<Rate> committed;  // indexed by service
    std::size_t contracts;        // the number of lines
    std::shared_ptr<const Interfaces> interfaces;
    std::shared_ptr<const std::vector<config::Sale>> sold;
    std::shared_ptr<const std::vector<SubscriberReading>> subscribers;
    WorkPlan work;
  };
  // `plane` and `events` must outlive this object.
  Observatory(ForwardingPlane& plane, EventLog& events, std::string config_hash);
  void open_report(const config::Config& config);

  void show(View view);
  // The result of a reload, and its duration.
  void reloaded(bool successful, double seconds);
  void set_config_hash(const std::string& hash);
  // The previous configuration is in effect again, since devices of the last one cannot be opened.
  void fell_back(const std::string& hash);
  bool last_reload_successful() const { return reloads_.last_successful; }

  // Takes the sample of a second. Returns the number of contracts.
  std::size_t sample(const Control& control, UnixTime wall);
  // Ends the report after the workers have stopped. `last`: their counters at the end.
  void end_report(const std::optional<Reading>& last);

  // The functions below are thread-safe. Everything the router counts, consistent (reading.h).
  Reading read();
  std::shared_ptr<const Interfaces> interfaces();
  struct Identity {
    std::string config_hash;
    std::shared_ptr<const Interfaces> interfaces;
  };
  Identity identity();
  const std::filesystem::path& report_directory() const { return report_.directory(); }

 private:
  struct Reloads {
    std::string config_hash;
    std::uint64_t successful = 0, failures = 0;
    std::optional<double> seconds{};
    double timestamp = 0;  // time of day, Unix seconds
    bool last_successful = true;
  };
  void sample_contracts();
  std::vector<InterfaceReading> interface_readings() const;
  std::vector<ContractMinute> minute_rows(const std::optional<Reading>& workers);
  void describe_ports(std::vector<PortReading>& ports) const;

  ForwardingPlane& plane_;
  LimitEvents limits_;
  PromiseEvents promises_;
  std::mutex mutex_;  // guards the members below
  View shown_;
  ServiceRates rates_;
  ContractBook book_;
  MinuteReport report_;
  ShaperMinutes shapers_;
  std::vector<FlowReading> top_flows_;
  ControlReading control_reading_;
  BusyRatios busy_;
  ProcessMeter process_;
  Reloads reloads_;
  Reading last_;  // used if a worker does not answer
};

}  // namespace surety
