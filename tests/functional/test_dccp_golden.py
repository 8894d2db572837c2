#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whole DCCP conversations of our engines, as tshark sees them: nothing malformed, every checksum good.

dccp_dump (beside this file) writes them; DCCP_DUMP names it when it is not in build/release.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DUMP = pathlib.Path(os.environ.get("DCCP_DUMP", ROOT / "build/release/bin/dccp_dump"))
# tshark has no port of its own for DCCP in UDP (RFC 6773); 4.4 runs no script as root, and crashes in this one as another user.
IN_UDP = 'DissectorTable.get("udp.port"):add(6511, DissectorTable.get("ip.proto"):get_dissector(33))\n'
TYPES = ["request", "response", "data", "ack", "data_ack", "close_req", "close", "reset", "sync", "sync_ack"]
FIELDS = ["dccp.srcport", "dccp.dstport", "dccp.type", "dccp.checksum.status", "udp.checksum.status",
          "ip.checksum.status", "_ws.expert.message", "_ws.malformed", "dccp.option_type", "dccp.service_code",
          "dccp.reset_code", "dccp.timestamp", "dccp.timestamp_echo", "dccp.elapsed_time", "dccp.ccid3_loss_event_rate",
          "dccp.ccid3_receive_rate", "dccp.ccid3_loss_intervals", "frame.protocols", "frame.len", "ip.dsfield.ecn", "ipv6.tclass.ecn"]
NATIVE_V4, UDP_V4, NATIVE_V6, UDP_V6, REFUSED = 40000, 40001, 40002, 40003, 40100


def tshark_version():
    said = subprocess.run(["tshark", "--version"], capture_output=True, text=True).stdout if shutil.which("tshark") else "0.0"
    return tuple(map(int, re.search(r"(\d+)\.(\d+)", said).groups()))


SEES_UDP = tshark_version() < (4, 4)


def decode(directory):
    pcap, script = directory / "dccp.pcap", directory / "udp.lua"
    script.write_text(IN_UDP)
    subprocess.run([DUMP, pcap], check=True)
    command = ["tshark", "-r", pcap, "-X", f"lua_script:{script}", "-T", "fields", "-o", "dccp.check_checksum:TRUE",
               "-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    for field in FIELDS:
        command += ["-e", field]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in text.splitlines()]


def expert_items(directory):
    """What `tshark -z expert` reports of the capture that decode() wrote there: nothing, or a table for each severity."""
    command = ["tshark", "-r", directory / "dccp.pcap", "-X", f"lua_script:{directory / 'udp.lua'}", "-o", "dccp.check_checksum:TRUE",
               "-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-q", "-z", "expert,chat"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@unittest.skipUnless(shutil.which("tshark"), "tshark is not installed")
@unittest.skipUnless(DUMP.exists(), f"no {DUMP}; build it, or name it with DCCP_DUMP=")
class DccpGolden(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as directory:
            cls.packets = decode(pathlib.Path(directory))
            cls.expert_items = expert_items(pathlib.Path(directory))

    def conversation(self, port):
        if port in (UDP_V4, UDP_V6) and not SEES_UDP:
            self.skipTest("this tshark does not take DCCP in UDP apart")
        return [p for p in self.packets if str(port) in (p["dccp.srcport"], p["dccp.dstport"])]

    def counts(self, port):
        return collections.Counter(TYPES[int(p["dccp.type"])] for p in self.conversation(port))

    def test_every_packet_is_dccp_and_faultless(self):
        self.assertGreater(len(self.packets), 900)
        for number, p in enumerate(self.packets, 1):
            if ":udp:" in p["frame.protocols"] and not SEES_UDP:
                continue
            with self.subTest(packet=number):
                self.assertIn(":dccp", p["frame.protocols"])
                self.assertEqual((p["_ws.malformed"], p["_ws.expert.message"]), ("", ""))
                self.assertEqual(p["dccp.checksum.status"], "1")
                self.assertEqual(p["udp.checksum.status"], "1" if ":udp:" in p["frame.protocols"] else "")
                self.assertEqual(p["ip.checksum.status"], "1" if ":ip:" in p["frame.protocols"] else "")

    def test_no_expert_items_over_all_types_of_packets(self):
        for ports in ((NATIVE_V4, NATIVE_V6), (UDP_V4, UDP_V6)):
            self.assertEqual(set().union(*map(self.counts, ports)), set(TYPES))
        self.assertEqual(self.expert_items, "")

    def test_each_conversation_has_its_encapsulation(self):
        for port, layers in ((NATIVE_V4, "raw:ip:dccp"), (NATIVE_V6, "raw:ipv6:dccp"), (UDP_V4, "raw:ip:udp:dccp"),
                             (UDP_V6, "raw:ipv6:udp:dccp")):
            seen = {p["frame.protocols"].removesuffix(":data") for p in self.conversation(port)}
            self.assertEqual(seen, {layers})

    def test_data_alone_can_be_marked(self):
        for port in (NATIVE_V4, NATIVE_V6, UDP_V4, UDP_V6):
            fields = collections.Counter((TYPES[int(p["dccp.type"])].startswith("data"), p["ip.dsfield.ecn"] or p["ipv6.tclass.ecn"])
                                         for p in self.conversation(port))
            self.assertGreater(fields.pop((True, "2")), 150)
            self.assertGreater(fields.pop((False, "0")), 50)
            self.assertFalse(fields)

    def test_a_conversation_from_request_to_reset(self):
        for port in (NATIVE_V4, UDP_V4):
            counts = self.counts(port)
            self.assertGreater(counts.pop("data"), 150)
            self.assertGreater(counts.pop("ack"), 50)
            # Data in DataAcks until the first feedback is there. A Sync answers the stray packet, a SyncAck the Sync
            # that was slipped in.
            self.assertGreaterEqual(counts.pop("data_ack"), 1)
            self.assertEqual(counts, {"request": 1, "response": 1, "sync": 2, "sync_ack": 1, "close": 1, "reset": 1})
            self.assertEqual(self.conversation(port)[-1]["dccp.reset_code"], "1")

    def test_the_sink_ends_it_with_close_req(self):
        for port in (NATIVE_V6, UDP_V6):
            types = [TYPES[int(p["dccp.type"])] for p in self.conversation(port)]
            self.assertEqual([t for t in types if t in ("close_req", "close", "reset")], ["close_req", "close", "reset"])

    def test_data_packets(self):
        for p in self.conversation(NATIVE_V4):
            if TYPES[int(p["dccp.type"])] == "data":
                self.assertEqual(p["frame.len"], "700")
                self.assertEqual(p["dccp.option_type"], "41,0,0")
                self.assertNotEqual(p["dccp.timestamp"], "")

    def test_request_and_response_negotiate(self):
        request, response = self.conversation(NATIVE_V4)[:2]
        self.assertEqual(request["dccp.option_type"], "1,32,32,34,0,0")
        self.assertEqual(response["dccp.option_type"], "35,35,33")
        self.assertEqual(request["dccp.service_code"], str(0x53555245))
        self.assertEqual(response["dccp.service_code"], str(0x53555245))

    def test_feedback_has_all_its_options(self):
        reports = [p for p in self.conversation(NATIVE_V4) if p["dccp.ccid3_receive_rate"]]
        self.assertGreater(len(reports), 50)
        for p in reports:
            for option in ("42", "192", "193", "194"):
                self.assertIn(option, p["dccp.option_type"].split(","))
            self.assertNotEqual(p["dccp.timestamp_echo"], "")
        # After eight loss events: nine intervals of nine bytes and the skip length.
        self.assertEqual(len(reports[-1]["dccp.ccid3_loss_intervals"].replace(":", "")), 2 * (1 + 9 * 9))
        rate = int(reports[-1]["dccp.ccid3_loss_event_rate"])
        self.assertTrue(10 <= rate <= 30, rate)  # one packet in 20 is lost

    def test_refusal_by_service_code(self):
        request, reset = self.conversation(REFUSED)
        self.assertEqual(TYPES[int(request["dccp.type"])], "request")
        self.assertEqual((TYPES[int(reset["dccp.type"])], reset["dccp.reset_code"]), ("reset", "8"))


if __name__ == "__main__":
    unittest.main()
