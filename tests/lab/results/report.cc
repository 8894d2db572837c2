// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/report.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "router/process/this_process.h"
#include "tests/lab/results/recording.h"
#include "tests/lab/results/result_csv.h"
#include "tests/lab/results/result_json.h"

namespace surety::lab {
namespace {

constexpr const char* kData = "data.js";

void write_file(const std::filesystem::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), path.string());
}

void copy_page(const std::filesystem::path& to) {
  for (const auto& entry : std::filesystem::directory_iterator(console_files()))
    if (entry.path().filename() != kData)
      std::filesystem::copy_file(entry.path(), to / entry.path().filename(),
                                 std::filesystem::copy_options::overwrite_existing);
}

// Nothing but its header: not worth a file.
bool empty(const std::string& csv) {
  return csv.find('\n') + 1 == csv.size();
}

}  // namespace

// The recording is a script: a browser that has opened a file lets its page read no other.
void write_report(const std::string& directory, const Scenario& scenario, std::span<const RunResult> runs) {
  const std::filesystem::path root(directory);
  std::filesystem::create_directories(root);
  copy_page(root);
  write_file(root / kData, "'use strict';\nconst recording = " + to_line(recording_of(scenario, runs)));
  const std::pair<const char*, std::string> files[] = {{"flows.csv", flows_csv(runs)},
                                                       {"queues.csv", queues_csv(runs)},
                                                       {"domains.csv", domains_csv(runs)},
                                                       {"aggregates.csv", aggregates_csv(runs)}};
  for (const auto& [name, csv] : files) {
    if (!empty(csv)) write_file(root / name, csv);
  }
}

}  // namespace surety::lab
