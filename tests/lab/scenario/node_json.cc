// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/scenario/node_json.h"

#include <nlohmann/json.hpp>

namespace surety::lab {

namespace {

using Json = nlohmann::ordered_json;
using config::Node;

Json json(const Node& node) {
  Json out;
  switch (node.kind) {
    case Node::Kind::null:
      break;
    case Node::Kind::scalar:
      out = node.text;
      break;
    case Node::Kind::sequence:
      out = Json::array();
      for (const Node* item : node.items) out.push_back(json(*item));
      break;
    case Node::Kind::map:
      out = Json::object();
      for (const auto& [key, value] : node.entries) out[key->text] = json(*value);
      break;
  }
  return out;
}

}  // namespace

std::string json_text(const Node& node, std::initializer_list<std::string_view> without) {
  Json out = json(node);
  for (const auto key : without)
    if (out.is_object()) out.erase(std::string(key));
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace surety::lab
