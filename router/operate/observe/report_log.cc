// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/report.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "config/text/regular_file.h"
#include "router/operate/observe/reading_json.h"
#include "router/process/confinement.h"
#include "router/process/fd.h"

namespace surety {

namespace {

namespace fs = std::filesystem;
constexpr std::string_view kSuffix = ".jsonl";

std::string name_of(Minute minute) {
  const auto hour = static_cast<std::time_t>(minute / 60 * 3600);
  return fmt::format("{:%Y-%m-%dT%H}{}", fmt::gmtime(hour), kSuffix);
}

std::vector<fs::path> files_in(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == kSuffix && fs::is_regular_file(entry.symlink_status()))
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

void append(const fs::path& file, std::string_view text) {
  constexpr int kAppending = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const auto fail = [&](int error) {
    throw std::system_error(error, std::generic_category(), fmt::format("cannot write {}", file.string()));
  };
  const Fd to(::open(file.c_str(), kAppending, 0666));
  if (!to) fail(errno);
  if (!config::not_regular(to.get()).empty()) fail(EINVAL);
  while (!text.empty()) {
    const ssize_t n = ::write(to.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(errno);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

// Names may have any bytes: invalid UTF-8 is replaced.
std::string as_line(const Json& line) {
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string line_of(Minute minute, std::size_t number, const ContractTally& t) {
  return fmt::format("[{},{},{:.0f},{},{},{},{},{},{},{},{}]\n", minute, number, t.committed_bytes_per_second,
                     t.offered_bytes, t.delivered_in_bytes, t.delivered_out_bytes, t.dropped_packets,
                     t.lost_packets, t.demanding_seconds, t.met_seconds, t.held_back_seconds);
}

ContractTally tally_of(const Json& line) {
  const auto at = [&](std::size_t i) { return line.at(i).get<std::uint64_t>(); };
  const std::uint64_t held_back = line.size() > 10 ? at(10) : 0;
  return {line.at(2).get<double>(), at(3), at(4), at(5), at(6), at(7), at(8), at(9), held_back};
}

}  // namespace

ReportLog::ReportLog(fs::path directory, std::uint64_t limit_bytes)
    : directory_(std::move(directory)), limit_(limit_bytes) {
  fs::create_directories(directory_);
  thread_ = background_thread([this](const std::stop_token& stop) { work(stop); });
}

ReportLog::~ReportLog() {
  thread_.request_stop();
  thread_.join();
}

void ReportLog::add(Minute minute, std::vector<ContractMinute> rows) {
  if (rows.empty()) return;
  const std::scoped_lock lock(mutex_);
  if (pages_.size() == kWaiting) {
    pages_.pop_front();
    trouble_ = "the disk is too slow: records of some minutes are lost";
  }
  pages_.push_back({minute, std::move(rows)});
  wake_.notify_one();
}

std::string ReportLog::trouble() const {
  const std::scoped_lock lock(mutex_);
  return trouble_;
}

void ReportLog::work(const std::stop_token& stop) {
  for (std::unique_lock lock(mutex_);;) {
    wake_.wait(lock, stop, [this] { return !pages_.empty(); });
    if (pages_.empty()) return;  // the thread is to end
    const Page page = std::move(pages_.front());
    pages_.pop_front();
    lock.unlock();
    std::string trouble;
    try {
      write(page);
      tidy(page.minute);
    } catch (const std::system_error& e) {
      trouble = e.what();
      file_.clear();  // the last line may be incomplete: names are written again
    }
    lock.lock();
    trouble_ = std::move(trouble);
  }
}

void ReportLog::write(const Page& page) {
  const fs::path file = directory_ / name_of(page.minute);
  std::string lines;
  if (file != file_) {
    numbers_.clear();
    lines = "\n";  // behind what another time may have left half written
  }
  for (const ContractMinute& row : page.rows) {
    const auto [found, made] =
        numbers_.try_emplace({row.customer, row.service, row.contract}, numbers_.size());
    if (made)
      lines += as_line(Json::array({"n", found->second, row.customer, row.service, row.contract,
                                    row.objective ? Json(*row.objective) : Json(), row.down ? 1 : 0}));
    lines += line_of(page.minute, found->second, row.tally);
  }
  append(file, lines);
  file_ = file;
}

void ReportLog::tidy(Minute now) const {
  const std::string oldest = name_of(now - kKept), newest = name_of(now + 60);  // a clock may have been ahead
  std::uint64_t bytes = 0;
  auto files = files_in(directory_);
  for (const fs::path& file : files) bytes += fs::file_size(file);
  for (const fs::path& file : files) {
    const bool ahead = file.filename() > newest;
    if (!ahead && file.filename() >= oldest && (bytes <= limit_ || file == file_)) continue;
    bytes -= fs::file_size(file);
    fs::remove(file);
  }
}

void ReportReader::read(const fs::path& directory, Minute since, const Take& take) {
  const auto paths = files_in(directory);
  std::erase_if(files_,
                [&](const auto& file) { return std::ranges::find(paths, file.first) == paths.end(); });
  for (const fs::path& path : paths) {
    if (path.filename() < name_of(since)) continue;
    File& file = files_[path];
    read_on(file, path, since, take);
    if (path != paths.back()) file.names.clear();  // complete: the router writes to the last one
  }
}

void ReportReader::read_on(File& file, const fs::path& path, Minute since, const Take& take) {
  const config::RegularFile opened(path, config::Links::refused);
  if (!opened.error().empty()) return;
  std::ifstream in(fmt::format("/proc/self/fd/{}", opened.descriptor()));
  in.seekg(file.read);
  for (std::string text; std::getline(in, text) && !in.eof();) {
    file.read += static_cast<std::streamoff>(text.size()) + 1;
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_array() || line.empty()) continue;
    try {
      if (line[0] == "n") {
        file.names[line.at(1).get<std::size_t>()] = {
            .customer = line.at(2),
            .service = line.at(3),
            .contract = line.at(4),
            .objective = line.at(5).is_null() ? std::nullopt : std::optional(line.at(5).get<double>()),
            .down = line.size() > 6 && line.at(6) == 1};
        continue;
      }
      const auto name = file.names.find(line.at(1).get<std::size_t>());
      if (name == file.names.end() || line[0].get<Minute>() < since) continue;
      name->second.tally = tally_of(line);
      take(line[0].get<Minute>(), name->second);
    } catch (const Json::exception&) {
      continue;
    }
  }
}

}  // namespace surety
