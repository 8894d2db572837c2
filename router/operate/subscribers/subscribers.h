// SPDX-License-Identifier: BSD-3-Clause
// `surety subscribers`: subscribers that come from other systems, or by hand, while the router runs.
//
// Each source is an owner with a file of its own, in the directory `subscribers` beside the router's file,
// which the configuration includes. A change of it is a change of the configuration as by `surety apply`:
// checked by the router, in effect and installed in one step or not at all, a generation of the history,
// undone by `surety rollback`. An owner changes no subscriber of another one, nor those of the operator's own
// files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "router/operate/generations/changes.h"

namespace surety {

struct SubscribersRequest {
  ChangeRequest change{};              // router, state, why, dry_run, json; `file`: the list to import
  std::optional<std::string> owner{};  // nullopt: import, or the one that has the subscriber
  std::vector<std::string> words{};    // add, set: name, then terms KEY=VALUE; others: names
  // import: most subscribers removed, in percent of the owner's; one is always allowed.
  double removals = 10;
  // import of a ShapedDevices.csv: the plan that its plans follow, and the port or interface of its
  // customers.
  std::string like{}, port{}, interface {};
};

// Each returns the exit status. 0: done; 1: nothing has changed, with the reason as a sentence on `err`.
//
// Makes the owner's subscribers those of a list (subscriber_list.h, shaped_devices.h); a list without
// `suspended` ends no suspension.
int import_subscribers(const SubscribersRequest& request, const ChangeContext& context);
// Makes the changes of a file's lines, `add NAME KEY=VALUE ...`, `set NAME KEY=VALUE ...`, `remove NAME`,
// `suspend NAME` or `resume NAME`, in this order, as one change: all of them, or none.
int batch_subscribers(const SubscribersRequest& request, const ChangeContext& context);
int add_subscriber(const SubscribersRequest& request, const ChangeContext& context);
int set_subscriber(const SubscribersRequest& request, const ChangeContext& context);  // `KEY=` removes a term
int remove_subscribers(const SubscribersRequest& request, const ChangeContext& context);
int suspend_subscribers(const SubscribersRequest& request, const ChangeContext& context);
int resume_subscribers(const SubscribersRequest& request, const ChangeContext& context);
// All subscribers of the router's file, or those named: plan, owner, place, and the state of their contracts.
int list_subscribers(const SubscribersRequest& request, const ChangeContext& context);
// One subscriber: its row of the list, and its rows of `surety show contracts`, `interfaces` and `queues`.
int show_subscriber(const SubscribersRequest& request, const ChangeContext& context);

}  // namespace surety
