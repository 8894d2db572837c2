// SPDX-License-Identifier: BSD-3-Clause
// Renders an explanation as lines: a title, and the result.
#include <fmt/format.h>

#include "router/operate/explain/explanation.h"
#include "router/process/human.h"

namespace surety {
namespace {

std::string text(const Json& j, const char* key) {
  return j.value(key, "");
}
double real(const Json& j, const char* key) {
  return j.value(key, 0.0);
}

std::string packet(const Json& p) {
  const bool ports = p.contains("source_port");
  const auto end = [&](const char* address, const char* port) {
    std::string a = text(p, address);
    if (!ports) return a;
    return fmt::format(fmt::runtime(a.find(':') != a.npos ? "[{}]:{}" : "{}:{}"), a, p.value(port, 0));
  };
  return fmt::format("{} {} -> {}, DSCP {}, {} bytes", text(p, "protocol"), end("source", "source_port"),
                     end("destination", "destination_port"), text(p, "dscp"), p.value("bytes", 0));
}

std::string interface(const Json& i) {
  std::string s = fmt::format("{} of port {}", text(i, "name"), text(i, "port"));
  if (i.contains("tags")) s += ", tags " + text(i, "tags");
  return s + (i.contains("customer") ? ", customer " + text(i, "customer") : ", core");
}

std::string flow(const Json& answer) {
  std::string s = "new: no record yet";
  if (const auto f = answer.find("flow"); f != answer.end())
    s = fmt::format("record of worker {}, idle for {}", f->value("worker", 0),
                    human::duration(real(*f, "idle_seconds")));
  if (const auto c = answer.find("counted"); c != answer.end())
    s += fmt::format("; {} IN and {} OUT so far", human::bytes(real(*c, "in_bytes")),
                     human::bytes(real(*c, "out_bytes")));
  return s;
}

std::string filter(const Json& f) {
  return fmt::format("{} by entry {} of {}", f.value("permit", false) ? "permitted" : "refused",
                     text(f, "entry"), text(f, "filter"));
}

std::string rule(const Json& r) {
  const std::string file = r.contains("file") ? " of " + r.value("file", "") : "";
  const std::string line = r.contains("line") ? fmt::format(" (line {}{})", r.value("line", 0), file) : "";
  return fmt::format("{}{}: service {} per {}",
                     r.contains("number") ? std::to_string(r.value("number", 0)) : "of a subscriber", line,
                     text(r, "service"), text(r, "per"));
}

std::string service(const Json& s) {
  std::string line = fmt::format("{}: {}", text(s, "name"), text(s, "conditioner"));
  if (s.contains("committed_bytes_per_second"))
    line += ", " + human::rate(real(s, "committed_bytes_per_second"));
  return line;
}

std::string contract(const Json& c) {
  std::string s = fmt::format("{} of customer {}{}", text(c, "contract"), text(c, "customer"),
                              c.value("known", false) ? "" : ", which begins with this packet");
  for (const auto& [key, name] :
       {std::pair{"in_bucket", "IN"}, {"out_bucket", "OUT"}, {"excess_bucket", "excess"}})
    if (const auto b = c.find(key); b != c.end())
      s += fmt::format("; {} bucket {} of {}", name, human::bytes(real(*b, "tokens_bytes")),
                       human::bytes(real(*b, "depth_bytes")));
  if (const auto b = c.find("buffer"); b != c.end())
    s += fmt::format("; {} of {} packets wait", b->value("held_packets", 0), b->value("limit_packets", 0));
  return s;
}

std::string route(const Json& r) {
  const std::string prefix = r.contains("prefix") ? text(r, "prefix") + ": " : "";
  if (!r.contains("next_hop")) return prefix + text(r, "state");
  const std::string port = text(r, "port"), interface = text(r, "interface");
  std::string s = fmt::format("{}by {} on {}", prefix, text(r, "next_hop"), interface);
  if (interface != port) s += " of port " + port;
  if (r.contains("of_next_hops")) s += fmt::format(", one of {} next hops", r.value("of_next_hops", 0));
  return s;
}

std::string neighbor(const Json& r) {
  if (!r.contains("mac")) return fmt::format("{} is not resolved", text(r, "next_hop"));
  return fmt::format("{} is {}{}", text(r, "next_hop"), text(r, "mac"),
                     text(r, "state") == "ready" ? "" : ", and packets that came before go first");
}

std::string range(const Json& q, const char* average, const char* curve) {
  const Json& c = q.at(curve);
  return fmt::format("{:.1f} (min {:g}, max {:g}, pmax {:g})", real(q, average), real(c, "min_packets"),
                     real(c, "max_packets"), real(c, "pmax_ratio"));
}

std::string queue(const Json& q) {
  const std::string owner = q.contains("interface") ? text(q, "interface") + " on " : "";
  std::string s = fmt::format("{} of {}{} by DSCP {}: {} packets", text(q, "name"), owner, text(q, "port"),
                              text(q, "dscp"), q.value("packets", 0));
  const std::string precedence = text(q, "precedence");
  const char* const name = precedence == "in" ? "IN" : precedence == "red" ? "red" : "OUT";
  const double counted = q.value("counted_packets", 0.0);
  if (counted < q.value("packets", 0)) s += fmt::format(" ({:.1f} of 1500 bytes)", counted);
  s += fmt::format(", limit {} for {}", q.value("limit_packets", 0), name);
  if (q.contains("in"))
    s += fmt::format("; averages: IN {}, all {}", range(q, "average_in_packets", "in"),
                     range(q, "average_total_packets", precedence == "red" ? "red" : "out"));
  if (q.contains("aggregate")) s += fmt::format("; aggregate {} may remark it", text(q, "aggregate"));
  return s + fmt::format("; dropped as {} with {}", name, human::percent(real(q, "drop_probability")));
}

}  // namespace

std::string render_explanation(const Json& a) {
  std::string out;
  const auto line = [&](std::string_view what, const std::string& says) {
    out += fmt::format("{:<13}{}\n", what, says);
  };
  const auto part = [&](std::string_view what, const char* key, std::string (*say)(const Json&)) {
    if (const auto j = a.find(key); j != a.end()) line(what, say(*j));
  };
  part("packet", "packet", packet);
  part("arrives by", "interface", interface);
  if (a.contains("service")) line("flow", flow(a));
  if (const auto c = a.find("source_check"); c != a.end())
    line("source check",
         fmt::format("{}: {}", text(*c, "mode"), c->value("accepted", false) ? "accepted" : "refused"));
  part("filter in", "filter_in", filter);
  if (a.contains("rule"))
    part("rule", "rule", rule);
  else if (a.contains("service"))
    line("rule", "none matches");
  part("service", "service", service);
  if (const auto d = a.find("degraded"); d != a.end())
    line("degraded", fmt::format("{}: {}", text(*d, "reason"), text(*d, "help")));
  part("contract", "contract", contract);
  if (const auto c = a.find("contract"); c != a.end() && c->contains("domain"))
    line("alpha",
         fmt::format("{} of {}",
                     c->at("alpha_ratio").is_number() ? human::ratio(real(*c, "alpha_ratio")) : "unlimited",
                     text(*c, "domain")));
  part("route", "route", route);
  if (const auto r = a.find("route"); r != a.end() && r->contains("next_hop")) line("neighbor", neighbor(*r));
  part("filter out", "filter_out", filter);
  part(a.contains("queue_out") ? "queue, IN" : "queue", "queue_in", queue);
  part("queue, OUT", "queue_out", queue);
  return out + text(a, "sentence") + '\n';
}

}  // namespace surety
