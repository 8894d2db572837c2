// SPDX-License-Identifier: BSD-3-Clause
// A reading of an endpoint in which every optional value is there once and missing once.
#pragma once

#include "endpoints/dpdk/endpoint_reading.h"

namespace surety::endpoints::test {

inline EndpointReading sample_endpoint_reading() {
  SenderReading camera;
  camera.name = "camera";
  camera.protocol = "gtfrc";
  camera.flows = {0, 1, 2, 0, 1};
  camera.failed = 1;
  camera.sent_packets = 1000;
  camera.sent_bytes = 1'500'000;
  camera.received_packets = 990;
  camera.received_bytes = 1'485'000;
  camera.payload_bytes = 1'455'300;
  camera.lost_packets = 10;
  camera.target = 100'000;
  camera.delivered = 97'500;
  camera.respect.add(1);
  camera.respect.add(0.5);
  camera.rtt.add(0.03);
  camera.rtt.add(0.05);
  camera.loss_event_rate.add(0.0125);
  camera.allowed_rate = 80'000;

  SenderReading web;
  web.name = "web";
  web.protocol = "newreno";
  web.flows = {10, 0, 0, 0, 0};
  web.retransmitted_packets = 3;

  SinkReading sink;
  sink.port = "p0";
  sink.protocol = "dccp";
  sink.flows = {0, 0, 2, 0, 0};
  sink.received_packets = 50;
  sink.received_bytes = 60'000;
  sink.payload_bytes = 58'000;
  sink.lost_packets = 2;
  sink.delivered = 6'000;

  EndpointPortReading port;
  port.name = "p0";
  port.refusals[static_cast<std::size_t>(Refusal::checksum)] = 4;
  port.drops[static_cast<std::size_t>(DropReason::ipv4_checksum)] = 5;
  port.rx_packets = 700;
  port.tx_packets = 1010;
  return {"0.1.0", 61.5, {camera, web}, {sink}, {port}};
}

}  // namespace surety::endpoints::test
