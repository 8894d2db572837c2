// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/explain/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "config/names.h"
#include "router/operate/explain/explanation.h"
#include "router/pipeline/wire/header_fields.h"
#include "router/pipeline/wire/ip_writer.h"

namespace surety {

// The question is looked at here, too: for what is wrong with it no router is needed.
int explain(const ExplainRequest& request, const TelemetryClient& client, std::ostream& out,
            std::ostream& err) {
  int status = 2;
  try {
    const std::string question = fmt::format("{}", fmt::join(request.words, " "));
    parse_question(question);
    status = 1;
    const Json answer = client.ask("explain", question, request.router);
    out << (request.json ? answer.dump(2) + '\n' : render_explanation(answer));
    return 0;
  } catch (const std::runtime_error& e) {
    err << "surety explain: " << e.what() << '\n';
    return status;
  }
}

namespace {

using config::Field;

constexpr std::uint8_t kTcp = 6, kUdp = 17, kDccp = 33;
constexpr std::uint16_t kMostVlan = 4094, kLongest = 9216;
constexpr std::size_t kIp4 = 20, kIp6 = 40, kLongestTransport = 20;

[[noreturn]] void refuse(const std::string& text) {
  throw std::runtime_error(text);
}

// Removes a number from the fields, if present.
std::optional<std::uint16_t> take(std::vector<Field>& fields, std::string_view name, std::uint16_t least,
                                  std::uint16_t most) {
  const auto at = std::ranges::find(fields, name, &Field::first);
  if (at == fields.end()) return {};
  const std::string text = at->second;
  fields.erase(at);
  std::uint16_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < least || n > most)
    refuse(fmt::format("`{}={}` is not a number from {} to {}", name, text, least, most));
  return n;
}

IpAddress one_address(const std::vector<Prefix>& prefixes, std::string_view name) {
  if (prefixes.empty()) refuse(fmt::format("a packet has a {0}: say which, like `{0}=10.1.0.1`", name));
  const Prefix& prefix = prefixes.front();  // a field has one
  if (prefix.length != prefix.address.bits())
    refuse(fmt::format("a packet has one {}: {} covers several", name, to_string(prefix)));
  return prefix.address;
}

std::uint16_t one_port(const config::PortRange& range, bool given, std::string_view name) {
  if (!given) refuse(fmt::format("the protocol has ports: say which, like `{}=5004`", name));
  if (range.from != range.to) refuse(fmt::format("a packet has one {}, not a range", name));
  return range.from;
}

bool has(const std::vector<Field>& fields, std::string_view name) {
  return std::ranges::find(fields, name, &Field::first) != fields.end();
}

void take_match(Question& q, const std::vector<Field>& fields) {
  const auto [m, error] = config::parse_fields(fields);
  if (!error.empty()) refuse(error);
  q.source = one_address(m.source, "source");
  q.destination = one_address(m.destination, "destination");
  if (!m.protocol) refuse("a packet has a protocol: say which, like `protocol=udp`");
  q.protocol = *m.protocol;
  q.dscp = m.dscp.value_or(0);
  const bool from = has(fields, "source_port"), to = has(fields, "destination_port");
  if (!config::has_ports(q.protocol)) return;
  q.source_port = one_port(m.source_port, from, "source_port");
  q.destination_port = one_port(m.destination_port, to, "destination_port");
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream s{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; s >> word;) words.push_back(word);
  return words;
}

// Writes the shortest possible transport header behind the IP header.
void write_transport(const Question& q, std::uint8_t* l4, std::size_t length) {
  if (!config::has_ports(q.protocol)) {
    if (q.protocol == config::kIcmp) l4[0] = 8;      // echo request
    if (q.protocol == config::kIcmpV6) l4[0] = 128;  // echo request of ICMPv6
    return;
  }
  store(l4, swap16(q.source_port));
  store(l4 + 2, swap16(q.destination_port));
  if (q.protocol == kUdp) store(l4 + 4, swap16(static_cast<std::uint16_t>(length)));
  if (q.protocol == kTcp) l4[12] = 5 << 4, l4[13] = 0x10;       // data offset; ACK
  if (q.protocol == kDccp) l4[4] = 16 / 4, l4[8] = 2 << 1 | 1;  // data, long sequence numbers
}

}  // namespace

Question parse_question(std::string_view text) {
  Question q;
  std::vector<Field> fields;
  for (const std::string& word : words_of(text)) {
    const bool is_field = word.find('=') != word.npos;
    if (!is_field && q.place.empty() && fields.empty())
      q.place = word;
    else if (!is_field)
      refuse(fmt::format("`{}` is not a field: fields are like `source=10.1.0.1`", word));
    else
      fields.push_back(config::field_of(word));
  }
  q.vlan = take(fields, "vlan", 0, kMostVlan);
  q.inner_vlan = take(fields, "inner_vlan", 1, kMostVlan);
  if (q.inner_vlan && q.vlan.value_or(0) == 0) refuse("an inner VLAN needs `vlan`, the outer one");
  const auto length = take(fields, "length", 1, kLongest);
  take_match(q, fields);
  const std::size_t least = (q.source.is_v6() ? kIp6 : kIp4) + kLongestTransport;
  if (length && *length < least) refuse(fmt::format("`length={}` is too short: at least {}", *length, least));
  q.length = length.value_or(Question::kUsualLength);
  return q;
}

Arrival arrival_of(const Question& q, const config::Config& config, const Interfaces& interfaces) {
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    const auto index = static_cast<InterfaceIndex>(i);
    if (!interfaces.exists(index) || interfaces.name(index) != q.place) continue;
    const InterfaceRecord& record = interfaces[index];
    if (record.is_template)
      refuse(fmt::format("{0} is a template: name one of its members, like {0}.{1}", q.place,
                         config.interfaces[record.definition].first_inner));
    if (i >= config.ports.size()) {
      if (q.vlan || q.inner_vlan)
        refuse(fmt::format("interface {} has its own VLAN: leave `vlan` out", q.place));
      if (const auto& own = interfaces.prefixes(index);
          !own.empty() && std::ranges::none_of(own, [&](const Prefix& p) { return p.contains(q.source); }))
        refuse(fmt::format("{} is no address of {}: such a packet arrives by {}", to_string(q.source),
                           q.place, interfaces.name(record.within)));
      return {record.port, record.tags};
    }
    if (q.vlan.value_or(0) == 0) return {record.port, {}};
    const std::uint16_t inner = q.inner_vlan.value_or(0);
    const auto of_interface = std::ranges::find_if(kTagProtocols, [&](std::uint16_t protocol) {
      return interfaces.find(record.port, protocol, *q.vlan, inner) != kNoInterface;
    });
    return {record.port,
            {of_interface == kTagProtocols.end() ? kCustomerTag : *of_interface, *q.vlan, inner}};
  }
  refuse(fmt::format("no port or interface is called {}: `surety show interfaces` lists them", q.place));
}

std::vector<std::uint8_t> frame_of(const Question& q, const Arrival& arrival) {
  constexpr MacAddress kStranger{0x02, 0, 0, 0, 0, 0xfe};
  const std::size_t tags = arrival.tags.bytes();
  std::vector<std::uint8_t> frame(kEthernetHeader + tags + q.length);
  write_ethernet(frame.data(), {}, kStranger, q.source.is_v6() ? kIpv6Type : kIpv4Type);
  std::uint8_t* const ip = frame.data() + kEthernetHeader + tags;
  if (tags > 0) {
    const std::uint64_t words = arrival.tags.in_frame(0);
    std::memcpy(ip - 2, frame.data() + 12, 2);
    std::memcpy(frame.data() + 12, &words, tags);
  }
  const IpWriter writer({q.source, q.destination, q.source_port, q.destination_port}, q.protocol);
  const std::size_t payload = q.length - writer.header_length();
  writer.write(ip, payload, q.dscp);
  write_transport(q, ip + writer.header_length(), payload);
  return frame;
}

}  // namespace surety
