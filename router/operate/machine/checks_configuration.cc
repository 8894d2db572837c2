// SPDX-License-Identifier: BSD-3-Clause
// The configuration, the files that it names, and where the router keeps things.
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "router/operate/machine/doctor.h"
#include "router/process/human.h"

namespace surety::machine {

namespace {

Findings configuration(const HostFacts& p) {
  if (!p.parsed) return {warning(p.file + " does not exist: only the machine is checked", "surety setup")};
  auto said = p.parsed->diagnostics;
  std::erase_if(said, [](const auto& d) { return d.severity == config::Diagnostic::Severity::note; });
  const std::string look = "surety check " + p.file;
  if (!p.parsed->ok())
    return {error(fmt::format("{}:{}: {}{}", said.front().file, said.front().line, said.front().message,
                              said.size() > 1 ? fmt::format(" (and {} more)", said.size() - 1) : ""),
                  look)};
  if (p.config()->port_count() == 0)
    return {warning(p.file + " has no port: the router forwards nothing", "surety setup")};
  if (!said.empty()) return {warning(fmt::format("{}: {}", p.file, said.front().message), look)};
  return {ok(p.file + " is valid")};
}

struct Secret {
  const char* what;
  std::string file;
};

std::vector<Secret> secrets_of(const config::Config& c) {
  std::vector<Secret> all{{"keys of signals", c.signalling.key_file},
                          {"password of metrics", c.metrics.password_file}};
  if (c.metrics.tls) {
    all.push_back({"key of metrics", c.metrics.tls->key_file});
    all.push_back({"certificate of metrics", c.metrics.tls->cert_file});
  }
  std::erase_if(all, [](const Secret& s) { return s.file.empty(); });
  return all;
}

// A file beside the configuration is named from the real root already.
fs::path real(const HostFacts& p, const fs::path& file) {
  return file.string().starts_with(p.host.root().string() + "/") ? file : p.host.at(file);
}

Findings secrets(const HostFacts& p) {
  Findings all;
  if (!p.config()) return all;
  for (const auto& [what, file] : secrets_of(*p.config())) {
    struct stat is {};
    const std::string path = real(p, file);
    if (::stat(path.c_str(), &is) != 0)
      all.push_back(error(fmt::format("{} does not exist: it is the file of the {}", file, what)));
    else if ((is.st_mode & (S_IROTH | S_IWOTH)) != 0 && !std::string_view(what).starts_with("cert"))
      all.push_back(safe(error(fmt::format("every user may read or change {}, the {}", file, what),
                               "chmod o-rwx " + shell_text({path}))));
  }
  return or_ok(std::move(all), "only their owners may read keys and passwords",
               !secrets_of(*p.config()).empty());
}

Findings state(const HostFacts& p) {
  const fs::path path = p.host.at(p.state);
  const std::string text = p.state.string();
  struct statvfs has {};
  if (::statvfs(path.c_str(), &has) != 0)
    return {safe(warning(text + " does not exist: no generation and no report is stored",
                         "mkdir -p " + shell_text({path})))};
  if (::access(path.c_str(), W_OK) != 0 || (has.f_flag & ST_RDONLY) != 0)
    return {error(text + " cannot be written: no generation and no report is stored",
                  "mount -o remount,rw " + text)};
  constexpr double kLeast = 16e6;  // generations, and what is being written
  const double free = static_cast<double>(has.f_bavail) * static_cast<double>(has.f_frsize);
  const double wanted =
      kLeast + (p.config() ? static_cast<double>(p.config()->metrics.report_size.count()) : 0);
  const std::string sentence = fmt::format("{} has {} free", text, human::bytes(free));
  if (free < kLeast) return {error(sentence + ": a change of the configuration may fail", "du -xsh " + text)};
  if (free < wanted)
    return {warning(fmt::format("{}, but the report may take {}", sentence, human::bytes(wanted - kLeast)),
                    "surety check " + p.file + "  # metrics: {report_size: ...}")};
  return {ok(sentence)};
}

Findings programs(const HostFacts& p) {
  using Kind = config::Device::Kind;
  Findings all;
  const auto need = [&](const char* file, bool needed, const char* without) {
    if (needed && p.program(file).empty())
      all.push_back(
          error(fmt::format("{} is missing: {}", file, without), "apt-get install --reinstall surety"));
  };
  const bool xdp = !p.ports_with({Kind::af_xdp}).empty(), packet = !p.ports_with({Kind::af_packet}).empty();
  need("steer.bpf.o", xdp, "af_xdp ports do not open");
  need("guard.bpf.o", packet, "packets that the kernel forwards would bypass the router");
  need("divert.bpf.o", xdp || packet, "packets that the kernel sends would bypass the shaper");
  return or_ok(std::move(all), "the BPF programs are installed", xdp || packet);
}

}  // namespace

std::span<const Check> checks_of_configuration() {
  static constexpr std::array kChecks{Check{"configuration", configuration}, Check{"secrets", secrets},
                                      Check{"state", state}, Check{"programs", programs}};
  return kChecks;
}

}  // namespace surety::machine
