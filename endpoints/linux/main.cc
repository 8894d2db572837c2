// SPDX-License-Identifier: BSD-3-Clause
// The program `surety-gtcp`: GTCP for the sockets of any program on this machine.
#include <bpf/libbpf.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <stdexcept>

#include "config/address.h"
#include "config/text/quantity.h"
#include "endpoints/linux/gtcp_attach.h"
#include "endpoints/linux/gtcp_reservations.h"
#include "router/process/command_line.h"
#include "router/process/version.h"

namespace {

using surety::parse_address;
using surety::parse_prefix;
using surety::Prefix;
using surety::Rate;
using namespace surety::endpoints;
namespace config = surety::config;

struct Request {
  std::vector<std::string> reserve;
  std::string unreserved, prefix, rate;
  int pid = 0, fd = -1;
  bool allow = false, cubic = false, json = false;
};

Rate rate_of(const std::string& text) {
  const auto parsed = config::parse_rate(text);
  if (!parsed.value) throw std::runtime_error("\"" + text + "\": " + parsed.error);
  return *parsed.value;
}

Prefix prefix_of(const std::string& text) {
  if (const auto prefix = parse_prefix(text)) return *prefix;
  if (const auto address = parse_address(text)) return {*address, address->bits()};
  throw std::runtime_error("\"" + text +
                           "\" is not a prefix; write 10.2.0.0/16, 2001:db8::/32 or an address");
}

Reservation reservation_of(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    throw std::runtime_error("\"" + text +
                             "\" is not a reservation; write PREFIX=RATE, e.g. 10.2.0.0/16=4Mbit/s");
  return {prefix_of(text.substr(0, equals)), rate_of(text.substr(equals + 1))};
}

void attach(const Request& request) {
  std::vector<std::string> texts = request.reserve;
  if (!request.unreserved.empty())
    texts.insert(texts.end(), {"0.0.0.0/0=" + request.unreserved, "::/0=" + request.unreserved});
  std::vector<Reservation> reservations;
  reservations.reserve(texts.size());
  for (const auto& text : texts) reservations.push_back(reservation_of(text));
  attach_gtcp(reservations, kGtcpPins, request.cubic);
  if (request.allow) allow_gtcp();
}

void reserve(const Request& request) {
  const Prefix to = prefix_of(request.prefix);
  const Rate rate = rate_of(request.rate);
  GtcpReservations().reserve(to, rate);
}

void release(const Request& request) {
  const Prefix to = prefix_of(request.prefix);
  GtcpReservations().release(to);
}

void set(const Request& request) {
  const Rate rate = rate_of(request.rate);
  GtcpReservations gtcp;
  const surety::Fd socket = socket_of(request.pid, request.fd);
  gtcp.reserve(socket.get(), rate);
  choose_gtcp(socket.get());
}

void show(const Request& request) {
  GtcpStatus status;
  status.attached = gtcp_attached();
  status.allowed = gtcp_allowed();
  if (status.attached) {
    const GtcpReservations gtcp;
    status.reservations = gtcp.reservations();
    status.totals = gtcp.totals();
  }
  std::cout << (request.json ? status_json(status) : status_text(status));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "GTCP, a TCP congestion control with a reserved rate, for any program: TCP_CONGESTION=gtcp, iperf3 -C "
      "gtcp"};
  app.set_version_flag("--version", surety::kVersion);
  app.require_subcommand(1);
  bool verbose = false;
  app.add_flag("--verbose", verbose, "print the messages of libbpf and of the kernel's verifier");

  Request request;
  auto* attaching = app.add_subcommand("attach", "Attach the congestion control `gtcp` to the kernel");
  attaching->add_option("--reserve", request.reserve,
                        "reserved rate of each connection to a prefix: 10.2.0.0/16=4Mbit/s");
  attaching->add_option("--default", request.unreserved,
                        "reserved rate of each connection to other destinations; default: none");
  attaching->add_flag("--cubic", request.cubic,
                      "let the best-effort part of the window follow CUBIC (RFC 9438); default: Reno");
  attaching->add_flag(
      "--allow", request.allow,
      "let every user choose it (net.ipv4.tcp_allowed_congestion_control); default: CAP_NET_ADMIN only");

  auto* reserving = app.add_subcommand("reserve", "Reserve a rate for each connection to a prefix");
  reserving->add_option("prefix", request.prefix)->required();
  reserving->add_option("rate", request.rate, "e.g. `4 Mbit/s`; 0 bit/s: none")->required();

  auto* releasing = app.add_subcommand("release", "Remove the reservation for a prefix");
  releasing->add_option("prefix", request.prefix)->required();

  auto* setting =
      app.add_subcommand("set", "Set gtcp and a reserved rate on one socket of a running program");
  setting->add_option("--pid", request.pid, "the process")->required();
  setting
      ->add_option("--fd", request.fd, "its file descriptor; connections accepted from it inherit the rate")
      ->required();
  setting->add_option("--rate", request.rate, "e.g. `4 Mbit/s`")->required();

  auto* detaching =
      app.add_subcommand("detach", "Detach `gtcp` from the kernel; connections that use it continue");
  auto* showing = app.add_subcommand("status", "Show whether it is attached, its reservations and their use");
  showing->add_flag("--json", request.json, "print JSON");

  if (const auto status = surety::answer_programs(app, argc, argv)) return *status;
  CLI11_PARSE(app, argc, argv);
  if (!verbose) libbpf_set_print(nullptr);
  try {
    if (*attaching) attach(request);
    if (*reserving) reserve(request);
    if (*releasing) release(request);
    if (*setting) set(request);
    if (*detaching) detach_gtcp();
    if (*showing) show(request);
  } catch (const std::exception& e) {
    std::cerr << "surety-gtcp: " << e.what() << '\n';
    return 1;
  }
  return 0;
}
