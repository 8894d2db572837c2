// SPDX-License-Identifier: BSD-3-Clause
// Commands that change a configuration.
#include "router/operate/generations/changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <stdexcept>

#include "config/parse.h"
#include "router/operate/generations/disk.h"
#include "router/operate/generations/site.h"
#include "router/process/change_lock.h"
#include "router/process/this_process.h"

namespace surety {
namespace {

namespace fs = std::filesystem;

// A change of a router's configuration, from the lock to the router's last word.
class Change {
 public:
  Change(const ChangeRequest& request, const ChangeContext& context, std::string how)
      : request_(request),
        context_(context),
        how_(std::move(how)),
        site_(find_site(request, context.client)) {
    site_.store.open();
    lock_.emplace(site_.store.directory(), author(), how_);
    if (site_.router) site_.router->look();
  }

  Site& site() { return site_; }
  // The router's file as it was when this was called first, or after finish().
  const std::optional<ConfigTree>& installed() {
    if (!installed_ && disk::rights_of(site_.file)) installed_ = gather(site_.file);
    return installed_;
  }
  const Json* trial() const { return site_.router ? site_.router->trial() : nullptr; }
  // Ends the trial. False: its author has installed the file already.
  bool take_back();

  // Cleans up after killed processes: no trial runs afterwards, and the installed configuration is a
  // generation.
  void begin();
  // `given`: the author's path.
  int to(const ConfigTree& candidate, const fs::path& given);
  void finish(const ConfigTree& tree, const std::string& hash);
  bool edited() {
    const auto& now = installed();
    return site_.router && now && now->hash() != site_.router->hash();
  }

 private:
  void lay_out_files() const;
  IsKept kept() const {
    return [this](const std::string& name, const std::string& text) { return site_.store.keeps(name, text); };
  }
  Generation found();
  Generation about(const ConfigTree& tree, const std::string& hash, const Json& verdict) const;
  Json judge(const ConfigTree& tree, std::string& hash);
  bool says_so_already(const ConfigTree& tree);
  void print(const Json& verdict, const ConfigTree& tree, const fs::path& given) const;
  int refuse_restart(const std::vector<std::string>& what) const;
  int hand_over(const ConfigTree& tree, const Generation& about, const fs::path& given);
  int put_on_trial() const;

  const ChangeRequest& request_;
  const ChangeContext& context_;
  std::string how_;
  Site site_;
  std::optional<ChangeLock> lock_;
  std::optional<ConfigTree> installed_;
  bool taken_ = false;  // the staged configuration is in effect
};

bool Change::take_back() {
  taken_ = site_.router->back().at("kept").get<bool>();
  site_.router->look();
  return !taken_;
}

void Change::begin() {
  // This process has the lock: the author of an installation in progress was killed.
  if (trial() != nullptr && trial()->at("installing").get<bool>()) take_back();
  if (const Json* const t = trial())
    throw std::runtime_error(
        fmt::format("a configuration of {} is on trial until {}: `surety confirm` or `surety "
                    "rollback` first",
                    t->at("who").get<std::string>(), time_text(t->at("until"))));
  if (request_.confirm && edited())
    throw std::runtime_error(
        fmt::format("{} was edited after the router read it, and a trial must end with what the router "
                    "read: `surety reload` or `surety rollback` first",
                    site_.file.string()));
  if (const auto& now = installed()) site_.store.settle(*now, found(), false, taken_);
  lay_out_files();
}

// Lays out the other files. If a file cannot be written, or would be lost, the pointer stays in effect.
void Change::lay_out_files() const try { lay_out(site_.file, kept()); } catch (const std::runtime_error& e) {
  context_.err << fmt::format("surety {}: {}; until that is fixed, the configuration in effect is in {}\n",
                              how_, e.what(), pointed_at(site_.file).string());
}

Generation Change::found() {
  Generation g;
  g.when = context_.now;
  g.who = name_of_user(disk::rights_of(site_.file)->user.value_or(0));
  g.how = edited() ? std::string(Generation::kNotInEffect) : "found";
  g.installed = fs::absolute(site_.file);
  return g;
}

Generation Change::about(const ConfigTree& tree, const std::string& hash, const Json& verdict) const {
  Generation g;
  g.when = context_.now;
  g.who = author();
  g.how = how_;
  g.why = request_.why;
  g.main = tree.main;
  g.installed = fs::absolute(site_.file);
  g.hash = hash;
  g.changes = words_of(verdict);
  return g;
}

void Change::print(const Json& verdict, const ConfigTree& tree, const fs::path& given) const {
  Renames places = as_given(tree, site_.file, given);
  for (const auto& [from, to] : request_.places)
    places.emplace_back((fs::absolute(site_.file).parent_path() / from).string(), to);
  print_problems(verdict, places, context_.err);
}

// `hash`: the hash that a router will report for it.
Json Change::judge(const ConfigTree& tree, std::string& hash) {
  const fs::path seen = site_.store.put(tree, "asked");
  const config::Tree as_read = as_installed(seen, site_.file);
  for (const auto& [name, text] : tree.files)
    if (!as_read.texts.contains(name)) {
      site_.store.drop("asked");
      throw std::runtime_error(fmt::format("{} does not include {}: add `include: {}/*.yaml` to it",
                                           site_.file.string(), name, fs::path(name).parent_path().string()));
    }
  hash = as_read.hash();
  Json verdict;
  if (site_.router) {
    verdict = site_.router->diff(seen);
  } else {
    const auto next = config::parse_stored(as_read);
    const auto now = installed() ? config::parse_file(site_.file) : config::ParseResult{};
    verdict = verdict_of(next.diagnostics, now.ok() && next.ok()
                                               ? in_json(config::changes(*now.config, *next.config))
                                               : Json::array());
  }
  site_.store.drop("asked");
  return verdict;
}

// Compares texts: the content of `!file` may have changed.
bool Change::says_so_already(const ConfigTree& tree) {
  const auto& now = installed();
  return now == tree && !edited();
}

int Change::refuse_restart(const std::vector<std::string>& what) const {
  context_.err << fmt::format(
      "surety {}: this takes a restart: {}. Nothing has changed; `--at-next-start` installs it for the next "
      "start\n",
      how_, fmt::join(what, "; "));
  return 1;
}

int Change::to(const ConfigTree& candidate, const fs::path& given) {
  const ConfigTree tree = installable(candidate, site_.file);
  const bool same = says_so_already(tree);
  std::string hash;
  const Json verdict = !same || site_.router ? judge(tree, hash) : verdict_of({});
  if (same && !has_errors(verdict) && verdict.at("changes").empty()) {
    context_.out << "nothing to change: " << site_.file.string() << " is the same already\n";
    return 0;
  }
  if (request_.confirm && !site_.router)
    throw std::runtime_error(
        fmt::format("router {} does not run, so a trial is not possible: leave out --confirm", site_.name));
  print(verdict, tree, given);
  if (has_errors(verdict)) return 1;
  if (same && request_.confirm)
    throw std::runtime_error(
        "only the content of `!file` has changed, which a trial cannot restore: leave out --confirm");
  const auto restart = what_takes_a_restart(verdict);
  if (!restart.empty() && !request_.at_next_start) return refuse_restart(restart);
  check_places(tree, site_.file, kept());
  const Generation next = about(tree, hash, verdict);
  print_changes(verdict, context_.out);
  if (request_.dry_run) {
    context_.out << "not applied: --dry-run\n";
    return 0;
  }
  if (site_.router && restart.empty()) return hand_over(tree, next, given);
  site_.store.stage(tree, next);
  finish(tree, hash);
  context_.out << site_.file.string() << " is installed; it takes effect when the router starts\n";
  return 0;
}

// The file's content is in effect, or will be at the next start; a router that has adopted it is notified.
void Change::finish(const ConfigTree& tree, const std::string& hash) {
  try {
    installed_.reset();
    install(tree, site_.file);
  } catch (const std::runtime_error& e) {
    const auto& now = installed();
    if (!now || now->hash() != hash) throw;
    context_.err << fmt::format("surety {}: {}; it is in effect, but a power cut now may undo it\n", how_,
                                e.what());
  }
  try {
    site_.store.settle(*installed(), found(), false, true);
  } catch (const std::runtime_error& e) {
    context_.err << fmt::format(
        "surety {}: {}; it is in effect, and the next change adds it to the history\n", how_, e.what());
  }
  lay_out_files();
}

int Change::hand_over(const ConfigTree& tree, const Generation& about, const fs::path& given) {
  const fs::path staged = site_.store.stage(tree, about);
  const Json answer = site_.router->try_out(staged, request_.confirm, about.who);
  if (!answer.at("in_effect").get<bool>()) {
    print(answer, tree, given);
    site_.store.drop("staged");
    return 1;
  }
  if (request_.confirm) return put_on_trial();
  try {
    finish(tree, about.hash);
  } catch (const std::runtime_error&) {
    site_.router->back();
    throw;
  }
  site_.router->installed();
  context_.out << "in effect\n";
  return 0;
}

int Change::put_on_trial() const {
  context_.out << fmt::format("in effect until {}: `surety confirm` keeps it, else the router rolls back\n",
                              time_text(context_.now + request_.confirm->count()));
  return 0;
}

int tell(const std::string& command, const ChangeContext& context, const std::function<int()>& what) try {
  return what();
} catch (const std::exception& e) {
  context.err << "surety " << command << ": " << e.what() << '\n';
  return 1;
}

struct Goal {
  Generation about;
  ConfigTree tree;
};

// The generation `number`, or without one the newest before the current one that can be read.
Goal goal_of(const Store& store, const std::optional<int>& number, const ChangeContext& context) {
  const auto left_out = [&](const std::string& what) {
    context.err << "surety rollback: left out: " << what << '\n';
  };
  std::vector<std::string> damaged;
  const auto all = store.all(&damaged);
  std::ranges::for_each(damaged, left_out);
  for (auto g = all.rbegin(); g != all.rend(); ++g) {
    if (number ? g->number != *number
               : g == all.rbegin() || g->hash == all.back().hash || g->how == Generation::kNotInEffect)
      continue;
    try {
      return {*g, store.tree_of(*g)};
    } catch (const DamagedGeneration& e) {
      if (number) throw;
      left_out(e.what());
    }
  }
  throw std::runtime_error(
      number ? fmt::format("there is no generation {}: `surety history` lists them", *number)
             : "there is no earlier configuration to roll back to");
}

bool end_trial(Change& change, const ChangeContext& context) {
  if (!change.take_back()) return false;
  change.site().store.drop("staged");
  context.out << "the trial is over; the previous configuration is in effect again\n";
  return true;
}

[[noreturn]] void nothing_to_confirm(const LiveRouter& router) {
  if (const Json* const back = router.went_back())
    throw std::runtime_error(fmt::format("{} at {}; apply it again",
                                         back->value("by_itself", true)
                                             ? "too late: the router rolled back by itself"
                                             : "a command rolled the trial back",
                                         time_text(back->at("when"))));
  throw std::runtime_error("there is nothing to confirm");
}

int keep_trial(Change& change, const ChangeContext& context) {
  Site& site = change.site();
  if (!site.router)
    throw std::runtime_error(fmt::format("router {} does not run: a trial ends with the router", site.name));
  if (change.trial() == nullptr) nothing_to_confirm(*site.router);
  const auto staged = site.store.staged();
  const auto& now = change.installed();
  if (!staged || staged->about.hash != change.trial()->at("hash").get<std::string>())
    throw std::runtime_error(
        "the configuration on trial is not from `surety apply`: the program that began the trial must "
        "confirm it");
  if (!now || now->hash() != change.trial()->at("before").get<std::string>())
    throw std::runtime_error(fmt::format(
        "{} was edited after the trial began: `surety rollback` ends the trial", site.file.string()));
  site.router->confirm();
  change.finish(staged->tree, staged->about.hash);
  site.router->installed();
  context.out << "confirmed\n";
  return 0;
}

}  // namespace

int apply(const ChangeRequest& request, const ChangeContext& context) {
  return tell("apply", context, [&] {
    const ConfigTree candidate = gather(request.file);
    Change change(request, context, request.confirm ? "apply --confirm" : "apply");
    change.begin();
    return change.to(candidate, request.file);
  });
}

int edit(const ChangeRequest& request, const ChangeContext& context, const std::string& how,
         const Edit& change_files) {
  const std::string named = request.id.empty() ? how : fmt::format("{} --id {}", how, request.id);
  return tell(how, context, [&] {
    Change change(request, context, named);
    change.begin();
    if (!request.id.empty())
      for (const Generation& g : change.site().store.all())
        if (g.how == named) {
          context.out << fmt::format("made before: generation {}\n", g.number);
          return 0;
        }
    const fs::path& file = change.site().file;
    std::optional<ConfigTree> tree = change.installed();
    if (!tree) throw std::runtime_error(fmt::format("there is no configuration in {}", file.string()));
    if (change.edited())
      throw std::runtime_error(
          fmt::format("{} was edited after the router read it: `surety reload` or `surety rollback` first",
                      file.string()));
    change_files(*tree);
    return change.to(*tree, file);
  });
}

int rollback(const ChangeRequest& request, const ChangeContext& context) {
  return tell("rollback", context, [&] {
    Change change(request, context, "rollback");
    if (change.trial() != nullptr && !request.generation && end_trial(change, context)) return 0;
    change.begin();
    const Store& store = change.site().store;
    const auto [goal, tree] = goal_of(store, request.generation, context);
    return change.to(tree, fs::path(fmt::format("generation {}", goal.number)) / tree.main);
  });
}

int confirm(const ChangeRequest& request, const ChangeContext& context) {
  return tell("confirm", context, [&] {
    Change change(request, context, "confirm");
    return keep_trial(change, context);
  });
}

}  // namespace surety
