// SPDX-License-Identifier: BSD-3-Clause
// Commands that only read, and reload.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/parse.h"
#include "router/operate/generations/changes.h"
#include "router/operate/generations/disk.h"
#include "router/operate/generations/site.h"
#include "router/process/change_lock.h"
#include "router/process/human.h"
#include "router/process/this_process.h"

namespace surety {
namespace {

// `renames`: for places in the result.
Json compare(const ChangeRequest& request, const Site& site, Renames& renames) {
  if (!site.router) {
    const auto now = config::parse_file(site.file), next = config::parse_file(request.file);
    if (!now.ok())
      throw std::runtime_error(fmt::format("{} has errors: `surety check` lists them", site.file.string()));
    return verdict_of(next.diagnostics,
                      next.ok() ? in_json(config::changes(*now.config, *next.config)) : Json::array());
  }
  const ConfigTree tree = installable(gather(request.file), site.file);
  renames = as_given(tree, site.file, request.file);
  site.store.open();
  const ChangeLock lock(site.store.directory(), author(), "diff");
  Json verdict = site.router->diff(site.store.put(tree, "asked"));
  site.store.drop("asked");
  return verdict;
}

// The hash of the running configuration, or of the one after a start.
std::string hash_in_effect(const Site& site) {
  if (site.router) return site.router->hash();
  return disk::rights_of(site.file) ? gather(site.file).hash() : "";
}

Json rows(const Site& site, std::vector<std::string>& damaged) {
  Json all = Json::array();
  for (const Generation& g : site.store.all(&damaged)) {
    all.push_back(to_json(g));
    all.back()["in_effect"] = false;
  }
  const std::string now = hash_in_effect(site);
  for (auto g = all.rbegin(); g != all.rend(); ++g)
    if (g->at("hash") == now) {
      (*g)["in_effect"] = true;
      break;
    }
  return all;
}

std::string changed(const Json& g) {
  const auto words = g.at("changes").get<std::vector<std::string>>();
  constexpr std::size_t kShown = 2;
  if (words.size() <= kShown) return fmt::format("{}", fmt::join(words, "; "));
  return fmt::format("{}; {}; {} more", words[0], words[1], words.size() - kShown);
}

std::string table(const Json& rows) {
  TextTable t;
  t.column("generation", TextTable::Align::right);
  for (const char* const title : {"", "when", "who", "how", "what", "why"})
    t.column(title, TextTable::Align::left);
  for (auto g = rows.rbegin(); g != rows.rend(); ++g)
    t.row({std::to_string(g->at("generation").get<int>()), g->at("in_effect").get<bool>() ? "*" : "",
           time_text(g->at("when")), g->at("who"), g->at("how"), changed(*g), g->at("why")});
  return t.text();
}

int fail(const char* command, const std::exception& e, const ChangeContext& context) {
  context.err << "surety " << command << ": " << e.what() << '\n';
  return 1;
}

}  // namespace

int diff(const ChangeRequest& request, const ChangeContext& context) try {
  const Site site = find_site(request, context.client);
  Renames renames;
  const Json verdict = compare(request, site, renames);
  print_problems(verdict, renames, context.err);
  if (request.json)
    context.out << verdict.dump(2) << '\n';
  else if (!has_errors(verdict) && verdict.at("changes").empty())
    context.out << "nothing differs\n";
  else
    print_changes(verdict, context.out);
  return has_errors(verdict) ? 2 : verdict.at("changes").empty() ? 0 : 1;
} catch (const std::exception& e) {
  return fail("diff", e, context), 2;
}

int compare_with_running(const ChangeRequest& request, const ChangeContext& context) {
  const Site site = find_site(request, context.client);
  if (!site.router) throw std::runtime_error(fmt::format("no router called {} is running", site.name));
  Renames renames;
  Json verdict = compare(request, site, renames);
  verdict["warnings"].clear();  // `check` has printed its own
  print_problems(verdict, renames, context.out);
  print_changes(verdict, context.out);
  if (has_errors(verdict)) return 1;
  if (verdict.at("changes").empty())
    context.out << request.file.string() << ": changes nothing in the running router\n";
  return what_takes_a_restart(verdict).empty() ? 0 : 1;
}

int history(const ChangeRequest& request, const ChangeContext& context) try {
  const Site site = find_site(request, context.client);
  std::vector<std::string> damaged;
  const Json all = rows(site, damaged);
  for (const std::string& what : damaged) context.err << "surety history: left out: " << what << '\n';
  context.out << (request.json ? all.dump(2) + '\n' : table(all));
  if (site.router && site.router->trial() != nullptr && !request.json)
    context.out << fmt::format("on trial until {}, by {}: `surety confirm` or `surety rollback`\n",
                               time_text(site.router->trial()->at("until")),
                               site.router->trial()->at("who").get<std::string>());
  return 0;
} catch (const std::exception& e) {
  return fail("history", e, context);
}

int reload(const ChangeRequest& request, const ChangeContext& context) try {
  const auto router = LiveRouter::find(context.client, request.router);
  if (!router) throw std::runtime_error("no such router is running: start one with `surety run`");
  const Json answer = router->reload(author());
  print_problems(answer, {}, context.err);
  if (!answer.at("in_effect").get<bool>()) {
    context.err << "surety reload: refused; the running configuration is unchanged\n";
    return 1;
  }
  context.out << fmt::format("router {} runs the configuration of {}\n", router->name(),
                             router->file().string());
  if (const auto place = pointed_at(router->file()); !place.empty())
    context.err << fmt::format("surety reload: the configuration in effect is in {}: edit it there\n",
                               place.string());
  return 0;
} catch (const std::exception& e) {
  return fail("reload", e, context);
}

}  // namespace surety
