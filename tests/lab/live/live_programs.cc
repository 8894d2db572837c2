// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_programs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "router/operate/observe/telemetry_client.h"
#include "router/process/fd.h"
#include "tests/lab/live/live_config.h"

namespace surety::lab {

namespace {

constexpr auto kEnding = std::chrono::seconds(1);

std::string program(const char* variable, const char* name) {
  if (const char* path = std::getenv(variable)) return path;
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename(name).string();
}

std::string text_of(const std::string& file) {
  std::ostringstream s;
  s << std::ifstream(file).rdbuf();
  return s.str();
}

// The command line, with `configuration` written where it is told to look.
std::vector<std::string> in_space(const std::string& space, const std::string& program,
                                  const std::string& file, const std::string& configuration) {
  std::ofstream(file, std::ios::trunc) << configuration;
  const std::string state = std::filesystem::path(file).parent_path();  // nothing of a run stays behind
  return {"ip", "netns", "exec", space, "env", "SURETY_STATE=" + state, program, "run", file};
}

std::vector<std::string> endpoint_command(const Plan& plan, const LiveLayout& layout, std::uint64_t seed,
                                          const std::string& directory) {
  auto command = in_space(layout.host_space, endpoint_program(), directory + "/endpoints.yaml",
                          endpoint_configuration(plan, layout, seed));
  for (const std::string& word : {std::string("--json"), directory + "/report.json"}) command.push_back(word);
  return command;
}

}  // namespace

std::string surety_program() {
  return program("SURETY", "surety");
}
std::string endpoint_program() {
  return program("SURETY_ENDPOINT", "surety-endpoint");
}

void write_key_file(const std::string& directory) {
  const std::string file = directory + '/' + kLiveKeyFile;
  std::array<std::uint8_t, 16> key;
  std::random_device random;
  for (auto& byte : key) byte = static_cast<std::uint8_t>(random());
  const std::string text = key_file(key);
  const Fd fd(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (fd.get() < 0 || write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw LiveError(fmt::format("cannot write {}: {}", file, std::strerror(errno)));
}

LiveRouter::LiveRouter(const Plan& plan, const LiveLayout& layout, std::size_t router, unsigned core,
                       const std::string& directory)
    : node_(plan.scenario().routers[router].name),
      name_(live_router_name(layout, node_)),
      process_(
          in_space(layout.router_spaces[router], surety_program(), directory + "/router-" + node_ + ".yaml",
                   router_configuration(plan, layout, router, core)),
          directory + "/router-" + node_ + ".log") {}

LiveRouter::~LiveRouter() {
  process_.end();
  std::error_code ignored;  // DPDK leaves it behind, and its socket when it is killed
  for (const auto& d : runtime_directories())
    std::filesystem::remove_all(d / "dpdk" / (std::string(kFilePrefix) + name_), ignored);
}

void LiveRouter::check() {
  if (const auto status = process_.status())
    throw LiveError(fmt::format("router {} ended with status {}: {}", node_, *status, process_.output()));
}

bool LiveRouter::answers() {
  check();
  try {
    TelemetryClient().table("router", name_);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

Json LiveRouter::table(const char* what) try {
  return TelemetryClient().table(what, name_);
} catch (const std::runtime_error& e) {
  // Most likely it is ending right now.
  wait_until([this] { return process_.status().has_value(); }, kEnding, [] { return false; });
  check();
  throw LiveError(fmt::format("router {}: {}", node_, e.what()));
}

std::uint64_t LiveRouter::missed() {
  std::uint64_t n = 0;
  for (const Json& port : table("ports")) n += port.at("rx_missed").get<std::uint64_t>();
  return n;
}

LiveEndpoints::LiveEndpoints(const Plan& plan, const LiveLayout& layout, std::uint64_t seed,
                             const std::string& directory)
    : directory_(directory),
      process_(endpoint_command(plan, layout, seed, directory), directory + "/endpoints.log") {}

bool LiveEndpoints::started() {
  const std::string output = process_.output();
  if (const auto status = process_.status())
    throw LiveError(fmt::format("the endpoints ended with status {}: {}", *status, output));
  return output.find("started") != output.npos;
}

// Status 1 says that a target was missed, or that it failed: then there is no report.
std::string LiveEndpoints::report() {
  std::string text = text_of(directory_ + "/report.json");
  if (text.empty()) throw LiveError(fmt::format("the endpoints wrote no report: {}", process_.output()));
  return text;
}

}  // namespace surety::lab
