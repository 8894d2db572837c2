// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/journal.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <set>
#include <stdexcept>

#include "router/operate/machine/resources.h"

namespace surety::machine {

namespace {

using Json = nlohmann::json;

unsigned mode_of(const Host& host, const fs::path& path) {
  struct stat is {};
  return ::stat(host.at(path).c_str(), &is) == 0 ? is.st_mode & 0777U : 0644U;
}

}  // namespace

Journal::Journal(Host host, fs::path file) : host_(std::move(host)), file_(std::move(file)) {
  host_.tidy(file_);
  const auto text = host_.read(file_);
  if (!text) return;
  try {
    for (const Json& step : Json::parse(*text)) steps_.push_back(step_of(step));
  } catch (const Json::exception& e) {
    throw std::runtime_error(
        fmt::format("{} is not a journal of `surety setup`: {}; move it away: its steps are then not undone",
                    file_.string(), e.what()));
  }
}

nlohmann::json Journal::json_of(const Step& s) {
  Json json = {{"kind", s.kind}, {"path", s.path}, {"after", s.after}, {"mode", s.mode}, {"undo", s.undo}};
  json["before"] = s.before ? Json(*s.before) : Json(nullptr);
  return json;
}

Journal::Step Journal::step_of(const Json& j) {
  Step s{j.at("kind"), j.at("path"), {}, j.at("after"), j.at("mode"), j.at("undo")};
  if (!j.at("before").is_null()) s.before = j["before"].get<std::string>();
  return s;
}

void Journal::save() const {
  Json all = Json::array();
  for (const Step& s : steps_) all.push_back(json_of(s));
  if (all.empty()) return host_.remove(file_);
  host_.replace(file_, all.dump(1) + "\n", 0600);
}

void Journal::add(Step step) {
  steps_.push_back(std::move(step));
  save();
}

void Journal::replace(const fs::path& path, const std::string& text, unsigned mode) {
  const auto before = host_.read(path);
  if (before == text) return;
  add({"file", path, before, text, before ? mode_of(host_, path) : mode});
  host_.replace(path, text, mode);
}

long long Journal::set(const fs::path& path, long long value) {
  const auto before = host_.number(path);
  if (!before || *before == value) return before.value_or(0);
  add({"number", path, std::to_string(*before), std::to_string(value)});
  host_.write(path, std::to_string(value));
  return host_.number(path).value_or(0);
}

void Journal::on_undo(const Words& undo, const std::string& file) {
  add({"program", file, {}, "", 0, undo});
}

void Journal::bind(const std::string& address) {
  add({"driver", address, {}, ""});
}

Outcome Journal::run(const Words& words, const Words& undo, const std::string& what) {
  add({"program", what, {}, "", 0, undo});
  return host_.run(words);
}

std::string Journal::undo_file(const Step& s) const {
  host_.tidy(s.path);
  const auto now = host_.read(s.path);
  if (now == s.before) return {};
  if (now != s.after) return s.path + ": changed after setup, left as it is";
  if (s.before) {
    host_.replace(s.path, *s.before, s.mode);
    return s.path + ": restored";
  }
  host_.remove(s.path);
  return s.path + ": removed";
}

// The kernel may have set less than requested; more was set by others.
std::string Journal::undo_number(const Step& s) const {
  const auto now = host_.number(s.path);
  const long long before = std::stoll(*s.before), after = std::stoll(s.after);
  if (!now || *now == before) return {};
  if (*now > std::max(before, after))
    return fmt::format("{}: changed after setup to {}, left as it is", s.path, *now);
  host_.write(s.path, *s.before);
  return fmt::format("{}: restored to {}", s.path, host_.number(s.path).value_or(before));
}

// Undoes driverctl's configuration of a removed NIC, for its return.
std::string Journal::undo_override(const Step& s) const {
  const fs::path kept = fs::path("/etc/driverctl.d") / s.path;
  if (s.undo[1] == "unset-override")
    host_.remove(kept);
  else
    host_.replace(kept, s.undo[3] + "\n", 0644);
  return fmt::format("{}: it is missing; its setting is restored for its return", s.path);
}

std::string Journal::undo_program(const Step& s) const {
  if (s.undo.empty()) return {};
  const Outcome done = host_.run(s.undo);
  if (done.ok()) return fmt::format("`{}`", shell_text(s.undo));
  if (s.undo[0] == "driverctl" && !host_.exists(pci_file(s.path, ""))) return undo_override(s);
  const auto end = done.output.find_last_not_of(" \n");
  throw std::runtime_error(end == std::string::npos ? fmt::format("it ends with status {}", done.status)
                                                    : done.output.substr(0, end + 1));
}

std::string Journal::undo_step(const Step& s) const {
  if (s.kind == "file") return undo_file(s);
  if (s.kind == "number") return undo_number(s);
  if (s.kind != "driver") return undo_program(s);
  if (const std::string failed = release_driver(host_, s.path); !failed.empty())
    throw std::runtime_error(failed);
  return {};
}

// The previous text of a file is only in the journal.
std::string Journal::by_hand(const Step& s) const {
  if (s.kind == "program") return fmt::format("run `{}`", shell_text(s.undo));
  if (s.kind == "number") return fmt::format("run `echo {} > {}`", *s.before, s.path);
  if (s.kind == "driver") return fmt::format("run `{}`", release_by_hand(s.path));
  if (!s.before) return fmt::format("run `{}`", shell_text({"rm", s.path}));
  return fmt::format("its previous content is `before` in {}", file_.string());
}

Journal::Undone Journal::undo() {
  Undone undone;
  std::set<std::string> waits;  // paths whose earlier steps must not be undone before a later one
  for (std::size_t i = steps_.size(); i-- > 0;) {
    const Step step = steps_[i];
    if (waits.contains(step.path)) continue;
    try {
      if (auto said = undo_step(step); !said.empty()) undone.says.push_back(std::move(said));
    } catch (const std::runtime_error& e) {
      undone.left.push_back(fmt::format("not undone: {}; {}", e.what(), by_hand(step)));
      if (!step.path.empty()) waits.insert(step.path);
      continue;
    }
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(i));
    save();
  }
  return undone;
}

}  // namespace surety::machine
