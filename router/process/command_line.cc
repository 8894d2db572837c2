// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/command_line.h"

#include <algorithm>
#include <iostream>
#include <string_view>

#include "config/text/problems.h"

namespace surety {
namespace {

using Json = nlohmann::ordered_json;

bool shown(const CLI::Option* option) {
  return !option->get_group().empty();
}

bool takes_value(const CLI::Option* option) {
  return option->get_items_expected_max() > 0;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app, bool positional) {
  return app.get_options([=](const CLI::Option* o) { return shown(o) && o->get_positional() == positional; });
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); });
}

std::vector<std::string_view> names(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string_view> all;
  all.reserve(commands.size());
  for (const auto* command : commands) all.emplace_back(command->get_name());
  return all;
}

Json describe(const CLI::Option& option) {
  Json out{{"names", names_of(option)}, {"description", option.get_description()}};
  if (option.get_positional()) out["names"] = {option.get_name(true)};
  if (takes_value(&option)) {
    out["type"] = option.get_type_name();
    out["many"] = option.get_items_expected_max() > 1;
  }
  if (!option.get_default_str().empty()) out["default"] = option.get_default_str();
  if (option.get_required()) out["required"] = true;
  return out;
}

Json describe_all(const std::vector<const CLI::Option*>& options) {
  Json out = Json::array();
  for (const auto* option : options) out.push_back(describe(*option));
  return out;
}

// The words that CLI::IsMember leaves in a type's name: `TEXT:{text,csv,json}`.
std::vector<std::string> members(const std::string& type) {
  std::vector<std::string> words;
  const auto begin = type.find('{');
  if (begin == std::string::npos) return words;
  std::string word;
  for (const char c : type.substr(begin + 1)) {
    if (c == ',' || c == '}') words.push_back(std::exchange(word, ""));
    if (c == '}') break;
    if (c != ',') word += c;
  }
  return words;
}

// The state of a command line, word by word.
class Line {
 public:
  explicit Line(const CLI::App& app) : app_(&app) {}

  void take(const std::string& word) {
    if (option_ != nullptr) {
      given_[names_of(*option_).back()] = word;
      option_ = nullptr;
    } else if (word.starts_with('-') && word != "-") {
      option_ = option(word);
      if (option_ != nullptr && (!takes_value(option_) || option_->get_items_expected_min() == 0))
        option_ = nullptr;
    } else if (const auto commands = commands_of(*app_); !commands.empty()) {
      for (const auto* command : commands)
        if (command->get_name() == word) enter(*command);
    } else {
      before_.push_back(word);
    }
  }

  std::vector<std::string> may_be(const std::string& word, const Values& values) const {
    if (option_ != nullptr) return values_of(*option_, word, values);
    if (word.starts_with('-')) return options();
    std::vector<std::string> words;
    for (const auto* command : commands_of(*app_))
      words.push_back(command->get_name() + "\t" + command->get_description());
    if (!words.empty()) return words;
    const auto positionals = options_of(*app_, true);
    if (positionals.empty()) return {};
    const bool beyond = before_.size() >= positionals.size();
    const auto& last = *positionals.back();
    if (beyond && last.get_items_expected_max() <= 1) return {};
    return values_of(beyond ? last : *positionals[before_.size()], word, values);
  }

 private:
  void enter(const CLI::App& command) {
    name_ += (name_.empty() ? "" : " ") + command.get_name();
    app_ = &command;
  }

  const CLI::Option* option(const std::string& word) const {
    for (const auto* o : options_of(*app_, false))
      if (std::ranges::count(names_of(*o), word) > 0) return o;
    return nullptr;
  }

  std::vector<std::string> options() const {
    std::vector<std::string> words;
    for (const auto* o : options_of(*app_, false))
      for (const auto& name : names_of(*o)) words.push_back(name + "\t" + o->get_description());
    return words;
  }

  std::vector<std::string> values_of(const CLI::Option& option, const std::string& word,
                                     const Values& values) const {
    if (auto words = members(option.get_type_name()); !words.empty()) return words;
    const std::string name = option.get_positional() ? option.get_name(true) : names_of(option).back();
    if (values)
      if (auto words = values({name_, name, word, before_, given_})) return *words;
    return {":files"};
  }

  const CLI::App* app_;
  const CLI::Option* option_ = nullptr;  // option whose value comes next
  std::string name_;
  std::vector<std::string> before_;
  std::map<std::string, std::string> given_;
};

}  // namespace

Json command_line_json(const CLI::App& app) {
  Json commands = Json::array();
  for (const auto* command : commands_of(app)) commands.push_back(command_line_json(*command));
  return {{"name", app.get_name()},
          {"description", app.get_description()},
          {"options", describe_all(options_of(app, false))},
          {"positionals", describe_all(options_of(app, true))},
          {"commands", commands}};
}

std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words,
                                     const Values& values) {
  if (words.empty()) return {};
  Line line(app);
  std::for_each(words.begin(), words.end() - 1, [&](const auto& word) { line.take(word); });
  auto all = line.may_be(words.back(), values);
  std::erase_if(all, [&](const auto& w) { return w != ":files" && !w.starts_with(words.back()); });
  return all;
}

std::optional<int> answer_programs(const CLI::App& app, int argc, const char* const* argv,
                                   const Values& values) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--help-json") {
    Json all = command_line_json(app);
    if (app.get_name().empty())
      all["name"] = std::string(argv[0]).substr(std::string(argv[0]).rfind('/') + 1);
    std::cout << all.dump(1) << '\n';
  } else if (first == "complete") {
    for (const auto& word : completions(app, {argv + 2, argv + argc}, values)) std::cout << word << '\n';
  } else if (const auto commands = names(commands_of(app));
             !first.empty() && !first.starts_with('-') && !commands.empty() &&
             std::ranges::find(commands, first) == commands.end()) {
    std::cerr << "there is no command " << config::quote(first) << config::hint(first, commands) << '\n';
    return 2;
  } else {
    return std::nullopt;
  }
  return std::cout.flush() ? 0 : 1;
}

}  // namespace surety
