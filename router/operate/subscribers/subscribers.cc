// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/subscribers/subscribers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <ostream>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "config/names.h"
#include "config/parse.h"
#include "config/reader.h"
#include "config/text/assembly.h"
#include "config/text/document.h"
#include "config/text/outline.h"
#include "config/text/regular_file.h"
#include "router/operate/generations/site.h"
#include "router/operate/observe/reading_fields.h"
#include "router/operate/observe/show.h"
#include "router/operate/observe/subscriber_rows.h"
#include "router/operate/subscribers/shaped_devices.h"
#include "router/operate/subscribers/subscriber_list.h"

namespace surety {
namespace {

constexpr const char* kImport = "import";
constexpr const char* kManual = "manual";

std::string file_of_owner(const std::string& owner) {
  if (!config::is_name(owner))
    throw std::runtime_error(
        fmt::format("{} cannot name an owner: letters, digits, `-`, `_` and `.`", config::quote(owner)));
  return fmt::format("subscribers/{}.yaml", owner);
}

SubscriberList list_in(const ConfigTree& tree, const std::string& file) try {
  const auto found = tree.files.find(file);
  if (found == tree.files.end()) return {};
  if (!is_file_of_owner(found->second))
    throw BadList("it is a file of the operator's: choose another --owner");
  return SubscriberList::from_file_of_owner(found->second);
} catch (const BadList& e) {
  throw std::runtime_error(fmt::format("{}: {}", file, e.what()));
}

// The lists of owners, each read once, and written if it was changed.
class Owners {
 public:
  explicit Owners(ConfigTree& tree) : tree_(tree) {}

  // The list of an owner, to change it.
  SubscriberList& of(const std::string& owner) { return change(file_of_owner(owner)); }
  // The list that has the subscriber, to change it. Throws std::runtime_error if none has, or not this
  // owner's.
  SubscriberList& with(const std::string& name, const std::optional<std::string>& owner) {
    std::set<std::string> files = changed_;  // files of new owners, too
    for (const auto& [file, text] : tree_.files)
      if (is_file_of_owner(text)) files.insert(file);
    for (const std::string& file : files)
      if ((!owner || file == file_of_owner(*owner)) && list(file).find(name) != nullptr) return change(file);
    throw std::runtime_error(
        owner ? fmt::format("owner {} has no subscriber {}", *owner, config::quote(name))
              : fmt::format("no owner has a subscriber {}; one of the operator's own files is changed there",
                            config::quote(name)));
  }
  void write() const {
    for (const std::string& file : changed_)
      tree_.files[file] = lists_.at(file).file_of(std::filesystem::path(file).stem().string());
  }

 private:
  SubscriberList& list(const std::string& file) {
    const auto known = lists_.find(file);
    return known != lists_.end() ? known->second : lists_.emplace(file, list_in(tree_, file)).first->second;
  }
  SubscriberList& change(const std::string& file) {
    changed_.insert(file);
    return list(file);
  }

  ConfigTree& tree_;
  std::map<std::string, SubscriberList> lists_;  // indexed by file
  std::set<std::string> changed_;
};

// Name and terms of the words `NAME KEY=VALUE ...`; null: the key is to be removed.
std::vector<std::pair<std::string, Json>> terms_of(const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, Json>> terms;
  for (auto word = words.begin() + 1; word != words.end(); ++word) {
    const auto [key, value] = config::field_of(*word);
    if (key.empty() || word->find('=') == std::string::npos)
      throw std::runtime_error(fmt::format("{}: expected KEY=VALUE, like plan=gold", config::quote(*word)));
    terms.emplace_back(key, term_of(key, value));
  }
  return terms;
}

void put(const std::vector<std::pair<std::string, Json>>& terms, Subscriber& s) {
  for (const auto& [key, value] : terms)
    if (value.is_null())
      s.terms.erase(key);
    else
      s.terms[key] = value;
}

// The sections of a configuration. Throws std::runtime_error if it cannot be read.
config::Outline written_in(const ConfigTree& tree) {
  const config::Tree texts{{}, tree.main, tree.files, {}};
  config::TreeSources sources(texts);
  config::Problems problems;
  const config::Assembly assembly(texts, sources, problems);
  if (assembly.root() == nullptr) throw std::runtime_error(tree.main + " cannot be read");
  return config::outline_of(*assembly.root());
}

Json json_of(const config::Outline& o) {
  if (o.kind == config::Node::Kind::scalar) return term_of("", o.text);
  Json all = o.kind == config::Node::Kind::map ? Json::object() : Json::array();
  for (const config::Outline& below : o.below)
    if (o.kind == config::Node::Kind::map)
      all[below.key] = json_of(below);
    else
      all.push_back(json_of(below));
  return all;
}

Json entry_of(const config::Outline& written, std::string_view section, const std::string& name) {
  const config::Outline* const all = written.find(section);
  const config::Outline* const one = all == nullptr ? nullptr : all->find(name);
  return one == nullptr || one->kind != config::Node::Kind::map ? Json() : json_of(*one);
}

ShapedDevicesTerms terms_of(const SubscribersRequest& request, const ConfigTree& tree) {
  if (request.like.empty() || request.port.empty() == request.interface.empty())
    throw BadList("a ShapedDevices.csv needs `--like PLAN`, and `--port` or `--interface` of its customers");
  const config::Outline written = written_in(tree);
  ShapedDevicesTerms terms{.prefix = request.owner.value_or(kImport)};
  terms.plan = entry_of(written, "plans", request.like);
  if (terms.plan.is_null()) throw BadList(fmt::format("there is no plan {}", config::quote(request.like)));
  const Json service = entry_of(written, "services", terms.plan.value("service", ""));
  if (service.contains("mark") && service.at("mark").is_object()) terms.mark = service.at("mark");
  const bool port = !request.port.empty();
  terms.place[port ? "port" : "interface"] = port ? request.port : request.interface;
  return terms;
}

// A suspension lasts, unless the list has a value of its own.
void keep_suspended(const SubscriberList& before, SubscriberList& after) {
  constexpr const char* kSuspended = "suspended";
  for (const Subscriber& was : before.all()) {
    const auto suspended = was.terms.find(kSuspended);
    Subscriber* const s = suspended == was.terms.end() ? nullptr : after.find(was.name);
    if (s != nullptr && !s->terms.contains(kSuspended)) s->terms[kSuspended] = *suspended;
  }
}

struct Difference {
  std::size_t added = 0, changed = 0, removed = 0, same = 0;
};

Difference difference(const SubscriberList& before, const SubscriberList& after) {
  Difference d;
  for (const Subscriber& s : after.all()) {
    const Subscriber* const was = before.find(s.name);
    // Without the order of the keys.
    ++(was == nullptr ? d.added : nlohmann::json(was->terms) == nlohmann::json(s.terms) ? d.same : d.changed);
  }
  d.removed = before.all().size() - d.same - d.changed;
  return d;
}

void check_removals(const Difference& d, std::size_t before, double allowed) {
  const double percent =
      100. * static_cast<double>(d.removed) / static_cast<double>(std::max<std::size_t>(before, 1));
  if (d.removed > 1 && percent > allowed)
    throw std::runtime_error(fmt::format(
        "{} of {} subscribers would be removed, {:.0f} %: if that is intended, `--allow-removals {:.0f}`",
        d.removed, before, percent, std::ceil(percent)));
}

// A change of one subscriber: `words` are its name, and terms for some commands.
using ChangeOne = void (*)(Owners& owners, const std::vector<std::string>& words,
                           const std::optional<std::string>& owner);

void add_one(Owners& owners, const std::vector<std::string>& words, const std::optional<std::string>& owner) {
  Subscriber s{.name = words.at(0)};
  put(terms_of(words), s);
  owners.of(owner.value_or(kManual)).add(std::move(s));
}
void set_one(Owners& owners, const std::vector<std::string>& words, const std::optional<std::string>& owner) {
  put(terms_of(words), *owners.with(words.at(0), owner).find(words.at(0)));
}
void remove_one(Owners& owners, const std::vector<std::string>& words,
                const std::optional<std::string>& owner) {
  owners.with(words.at(0), owner).remove(words.at(0));
}
void suspend_one(Owners& owners, const std::vector<std::string>& words,
                 const std::optional<std::string>& owner) {
  owners.with(words.at(0), owner).find(words.at(0))->terms["suspended"] = true;
}
void resume_one(Owners& owners, const std::vector<std::string>& words,
                const std::optional<std::string>& owner) {
  owners.with(words.at(0), owner).find(words.at(0))->terms.erase("suspended");
}

// Makes the change for each of the names, or once for a name with terms.
int change_each(const SubscribersRequest& request, const ChangeContext& context, const char* how,
                ChangeOne change, bool terms = false) {
  return edit(request.change, context, how, [&](ConfigTree& tree) {
    Owners owners(tree);
    if (terms) change(owners, request.words, request.owner);
    for (const std::string& name : terms ? std::vector<std::string>() : request.words)
      change(owners, {name}, request.owner);
    owners.write();
  });
}

std::string text_of(const std::filesystem::path& file) {
  config::RegularFile opened(file == "-" ? "/dev/stdin" : file.string());
  std::string text = opened.text(config::Document::kMaxBytes);
  if (!opened.error().empty()) throw std::runtime_error(opened.error());
  if (text.size() > config::Document::kMaxBytes) throw BadList("larger than the limit of 4 MiB");
  return text;
}

SubscriberList list_to_import(const SubscribersRequest& request, const ConfigTree& tree) try {
  const std::filesystem::path& file = request.change.file;
  const std::string text = text_of(file);
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (text[first] == '{' || text[first] == '['))
    return SubscriberList::from_json(text);
  const auto records = csv_records(text);
  return is_shaped_devices(records) ? from_shaped_devices(records, terms_of(request, tree))
                                    : SubscriberList::from_records(records);
} catch (const std::runtime_error& e) {
  throw std::runtime_error(fmt::format("{}: {}", request.change.file.string(), e.what()));
}

// A line of a batch.
void change_by(const std::string& line, Owners& owners, const std::optional<std::string>& owner) {
  static const std::map<std::string, ChangeOne> kCommands{{"add", add_one},
                                                          {"set", set_one},
                                                          {"remove", remove_one},
                                                          {"suspend", suspend_one},
                                                          {"resume", resume_one}};
  std::istringstream stream(line);
  std::string command;
  if (!(stream >> command) || command.starts_with('#')) return;
  const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  const auto known = kCommands.find(command);
  if (known == kCommands.end())
    throw std::runtime_error(config::quote(command) + ": expected add, set, remove, suspend or resume");
  if (words.empty()) throw std::runtime_error(command + " needs the name of a subscriber");
  const bool terms = known->second == add_one || known->second == set_one;
  if (words.size() > 1 && !terms) throw std::runtime_error(command + " takes one name");
  known->second(owners, words, owner);
}

// The rows of `surety show subscribers`: of the router, or without traffic if it does not run.
std::vector<Json> rows_of(const Site& site, const ChangeContext& context) {
  if (site.router) return context.client.table("subscribers", site.name).get<std::vector<Json>>();
  const auto parsed = config::parse_file(site.file);
  if (!parsed.ok())
    throw std::runtime_error(fmt::format("{} has errors: `surety check` lists them", site.file.string()));
  const auto rows = subscriber_rows(*parsed.config);
  return fields::kSubscribers.json_rows(rows).get<std::vector<Json>>();
}

// The row with this name. Throws std::runtime_error if there is none.
const Json& row_of(const std::string& name, const std::vector<Json>& rows) {
  const auto row = std::ranges::find_if(rows, [&](const Json& r) { return r.value("name", "") == name; });
  if (row == rows.end()) throw std::runtime_error("no subscriber is called " + config::quote(name));
  return *row;
}

}  // namespace

int list_subscribers(const SubscribersRequest& request, const ChangeContext& context) try {
  std::vector<Json> rows = rows_of(find_site(request.change, context.client), context);
  for (const std::string& name : request.words) row_of(name, rows);
  std::erase_if(rows, [&](const Json& row) {
    return (!request.words.empty() &&
            std::ranges::find(request.words, row.value("name", "")) == request.words.end()) ||
           (request.owner && row.value("owner", "") != *request.owner);
  });
  context.out << (request.change.json ? Json(rows).dump(2) + '\n' : render(columns_of("subscribers"), rows));
  return 0;
} catch (const std::runtime_error& e) {
  context.err << "surety subscribers list: " << e.what() << '\n';
  return 1;
}

int show_subscriber(const SubscribersRequest& request, const ChangeContext& context) try {
  const std::string& name = request.words.at(0);
  const Site site = find_site(request.change, context.client);
  Json all = row_of(name, rows_of(site, context));
  std::string text = render(columns_of("subscribers"), std::span(&all, 1));
  if (site.router)
    for (const auto& [what, key] :
         {std::pair{"contracts", "customer"}, {"interfaces", "customer"}, {"queues", "interface"}}) {
      std::vector<Json> its;
      for (const Json& row : context.client.table(what, site.name))
        if (row.value(key, "") == name) its.push_back(row);
      all[what] = its;
      const ShownTable shows = shown(what, std::move(its));
      if (!shows.lines.empty()) text += '\n' + render(shows.columns, shows.lines);
    }
  context.out << (request.change.json ? all.dump(2) + '\n' : text);
  return 0;
} catch (const std::runtime_error& e) {
  context.err << "surety subscribers show: " << e.what() << '\n';
  return 1;
}

int import_subscribers(const SubscribersRequest& request, const ChangeContext& context) {
  ChangeRequest change = request.change;
  return edit(change, context, "subscribers import", [&](ConfigTree& tree) {
    Owners owners(tree);
    SubscriberList& list = owners.of(request.owner.value_or(kImport));
    SubscriberList after = list_to_import(request, tree);
    keep_suspended(list, after);
    const Difference d = difference(list, after);
    check_removals(d, list.all().size(), request.removals);
    context.out << fmt::format("{} added, {} changed, {} removed, {} as before\n", d.added, d.changed,
                               d.removed, d.same);
    if (!after.all().empty() && after.all().front().line != 0)  // lines are those of the CSV
      change.places = {{file_of_owner(request.owner.value_or(kImport)), request.change.file.string()}};
    list = std::move(after);
    owners.write();
  });
}

int batch_subscribers(const SubscribersRequest& request, const ChangeContext& context) {
  return edit(request.change, context, "subscribers batch", [&](ConfigTree& tree) {
    Owners owners(tree);
    std::istringstream lines(text_of(request.change.file));
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) try {
        ++number;
        change_by(line, owners, request.owner);
      } catch (const std::runtime_error& e) {
        throw std::runtime_error(fmt::format("{}:{}: {}", request.change.file.string(), number, e.what()));
      }
    owners.write();
  });
}

int add_subscriber(const SubscribersRequest& request, const ChangeContext& context) {
  return change_each(request, context, "subscribers add", add_one, true);
}

int set_subscriber(const SubscribersRequest& request, const ChangeContext& context) {
  return change_each(request, context, "subscribers set", set_one, true);
}

int remove_subscribers(const SubscribersRequest& request, const ChangeContext& context) {
  return change_each(request, context, "subscribers remove", remove_one);
}

int suspend_subscribers(const SubscribersRequest& request, const ChangeContext& context) {
  return change_each(request, context, "subscribers suspend", suspend_one);
}

int resume_subscribers(const SubscribersRequest& request, const ChangeContext& context) {
  return change_each(request, context, "subscribers resume", resume_one);
}

}  // namespace surety
