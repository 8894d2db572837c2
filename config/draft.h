// SPDX-License-Identifier: BSD-3-Clause
// A configuration while it is being read: the Config so far, the names that references resolve to, and the
// marks of items that are checked once all is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/text/document.h"
#include "config/text/problems.h"

namespace surety::config {

// Names in the order of the file -> indices. A repeated name keeps its place in the
// order, and means the first.
class Names {
 public:
  Names() = default;
  explicit Names(const Node* map);  // the keys of a map; null: none
  void add(std::string_view name);

  std::optional<std::size_t> find(std::string_view name) const;
  // The index of the item that a reference names; reports an unknown name, with the known ones.
  std::optional<std::size_t> resolve(const Node& reference, std::string_view noun, Problems& problems) const;

 private:
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::size_t> index_;
};

struct Draft {
  Draft(Problems& p, std::string d) : problems(p), directory(std::move(d)) {}

  Config config;
  Problems& problems;
  std::string directory;  // directory of the file; relative file names start there
  bool lab = false;       // a router of a scenario: its ports need no device, its signals no key and no id
  bool names_id = false;  // `router` has an `id`, right or wrong

  Names ports, groups, filters, interfaces, queues, services;

  struct PortPlaces {
    Mark name, device, mtu;
    std::vector<Mark> addresses;
    std::optional<Mark> twin{};
    Mark shape{};
  };
  struct GroupPlaces {
    Mark name, shape;
    bool known = false;  // true: its port exists
  };
  struct FilterPlaces {
    Mark name;
    std::vector<Mark> entries;
  };
  struct InterfacePlaces {
    Mark name, tags, protocol, mtu, shape;
    bool known = false;  // true: its port exists, and its tags are valid
    std::vector<Mark> addresses;
    std::optional<Mark> group{}, twin{};
  };
  struct ServicePlaces {
    Mark name, mark;
    std::vector<std::pair<Mark, Bytes>> buckets;  // depths of the buckets that count bytes
    std::optional<Mark> buffer;
    struct AutoMax {  // `max: auto` of `alpha`
      Mark at;
      Bytes packet;  // nominal packet of the service
    };
    std::optional<AutoMax> auto_max;
  };
  struct AggregatePlaces {
    Mark rate;
  };
  struct SignallingPlaces {
    Mark mode;
    std::optional<Mark> borders;
  };
  std::vector<PortPlaces> port_places;
  std::vector<GroupPlaces> group_places;
  std::vector<FilterPlaces> filter_places;
  std::vector<InterfacePlaces> interface_places;
  std::vector<Mark> route_places;
  std::vector<std::vector<Mark>> gateway_places;  // per route, per next hop
  std::vector<Mark> queue_places;
  std::vector<std::vector<std::optional<Mark>>>
      limit_places;  // per queue set and class: the mark of `limit`, if given
  std::vector<Mark> neighbor_places;
  std::vector<ServicePlaces> service_places;
  std::vector<Mark> rule_places;
  std::vector<AggregatePlaces> aggregate_places;
  SignallingPlaces signalling_places;

  // Oversubscription is an error or a warning, depending on `admission`.
  void oversold(Mark at, std::string message) {
    config.admission == Config::Admission::refuse ? problems.error(at, std::move(message))
                                                  : problems.warning(at, std::move(message));
  }

  // The name relative to the program's working directory; `at`: its mark, since it starts at that file's
  // directory.
  std::string file_name(const std::string& name, Mark at) const;
};

}  // namespace surety::config
