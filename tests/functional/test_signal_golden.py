#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Our congestion signals as tshark and scapy see them, and the MAC as its definition has it.

signal_dump (beside this file) writes them; SIGNAL_DUMP names it when it is not in build/release. No dissector looks into
ICMP type 253 or ICMPv6 type 100; but as RFC 4884 is followed, a signal becomes a Time Exceeded by its type alone, and
that they take apart down to the extension object.
"""
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

from scapy.contrib.icmp_extensions import ICMPExtensionHeader
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, in6_chksum
from scapy.utils import RawPcapWriter, checksum, rdpcap

from signal_wire import EXTENSION, MAC, mac, siphash_2_4_128

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DUMP = pathlib.Path(os.environ.get("SIGNAL_DUMP", ROOT / "build/release/bin/signal_dump"))
KEY = bytes(range(16))
SENT_MS = 1_700_000_000_123
TCP_V4, UDP_V6, BARE = range(3)


def icmp_of(packet):
    return bytes(packet.payload)


def time_exceeded(packet):
    """The same message with another type, and its checksum after that."""
    message = bytearray(icmp_of(packet))
    message[0], message[2:4] = 3 if IPv6 in packet else 11, bytes(2)
    header = bytes(packet)[:-len(message)]
    sum_of = (lambda m: in6_chksum(58, packet, m)) if IPv6 in packet else checksum
    message[2:4] = sum_of(bytes(message)).to_bytes(2, "big")
    return header + bytes(message)


def tshark(pcap, *fields):
    command = ["tshark", "-r", pcap, "-T", "fields", "-E", "occurrence=a", "-o", "ip.check_checksum:TRUE"]
    for field in fields:
        command += ["-e", field]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line.split("\t") for line in text.splitlines()]


@unittest.skipUnless(shutil.which("tshark"), "tshark is not installed")
@unittest.skipUnless(DUMP.exists(), f"no {DUMP}; build it, or name it with SIGNAL_DUMP=")
class SignalGolden(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.pcap = f"{directory.name}/signals.pcap"
        cls.twins = f"{directory.name}/twins.pcap"
        subprocess.run([DUMP, cls.pcap], check=True)
        cls.packets = list(rdpcap(cls.pcap))
        with RawPcapWriter(cls.twins, linktype=101) as twins:
            twins.write([time_exceeded(p) for p in cls.packets])

    def test_the_envelope(self):
        rows = tshark(self.pcap, "frame.protocols", "ip.src", "ip.dst", "ip.dsfield.dscp", "ip.checksum.status", "ip.len",
                      "icmp.type", "icmp.code", "icmp.checksum.status")
        self.assertEqual(rows[TCP_V4], ["raw:ip:icmp", "10.9.0.1", "10.1.0.1", "48", "1", "204", "253", "0", "1"])
        self.assertEqual(rows[BARE], ["raw:ip:icmp", "10.9.0.1", "10.9.0.5", "48", "1", "204", "253", "0", "1"])
        rows = tshark(self.pcap, "ipv6.src", "ipv6.dst", "ipv6.tclass.dscp", "ipv6.plen", "icmpv6.type", "icmpv6.code",
                      "icmpv6.checksum.status")
        self.assertEqual(rows[UDP_V6], ["2001:db8:9::1", "2001:db8:1::1", "48", "184", "100", "0", "1"])

    def test_nothing_is_odd_to_tshark(self):
        for (protocols, malformed, message) in tshark(self.twins, "frame.protocols", "_ws.malformed", "_ws.expert.message"):
            protocols = protocols.replace(":sapni", ":data")  # tshark 4.4 takes the port for SAP's
            self.assertIn(protocols, ("raw:ip:icmp:ip:tcp:data", "raw:ipv6:icmpv6:ipv6:udp:data:icmp", "raw:ip:icmp:ip"))
            self.assertEqual((malformed, message.replace('"Time To Live" only 0', "")), ("", ""))

    def test_tshark_decodes_quote_and_extension(self):
        rows = tshark(self.twins, "ip.src", "ip.dst", "ip.dsfield.dscp", "ip.checksum.status", "tcp.srcport", "tcp.dstport",
                      "icmp.length.original_datagram")
        self.assertEqual(rows[TCP_V4], ["10.9.0.1,10.1.0.1", "10.1.0.1,10.2.0.1", "48,12", "1,1", "40000", "5001", "128"])
        self.assertEqual(rows[BARE], ["10.9.0.1,10.5.1.2", "10.9.0.5,10.6.3.4", "48,14", "1,1", "", "", "128"])
        rows = tshark(self.twins, "ipv6.src", "ipv6.dst", "ipv6.tclass.dscp", "ipv6.flow", "udp.srcport", "udp.dstport")
        self.assertEqual(rows[UDP_V6], ["2001:db8:9::1,2001:db8:1::1", "2001:db8:1::1,2001:db8:2::2", "48,20",
                                        "0x000000,0x0abcde", "40001", "5002"])
        for row in tshark(self.twins, "icmp.ext.version", "icmp.ext.checksum.status", "icmp.ext.length", "icmp.ext.class",
                          "icmp.ext.ctype"):
            self.assertEqual(row, ["2", "1", "44", "249", "83"])

    def test_scapy_verifies_the_checksums(self):
        for packet in self.packets:
            message = icmp_of(packet)
            self.assertEqual(in6_chksum(58, packet, message) if IPv6 in packet else checksum(message), 0)
            self.assertEqual(checksum(message[EXTENSION:]), 0)
            extension = ICMPExtensionHeader(message[EXTENSION:])
            self.assertEqual((extension.version, extension.reserved), (2, 0))
            self.assertEqual((extension.payload.len, extension.payload.classnum, extension.payload.classtype), (44, 249, 83))

    def test_scapy_decodes_the_quote(self):
        quoted = IP(icmp_of(self.packets[TCP_V4])[8:EXTENSION])
        self.assertEqual((quoted.src, quoted.dst, quoted.tos, quoted.len), ("10.1.0.1", "10.2.0.1", 12 << 2, 100))
        self.assertEqual((quoted[TCP].sport, quoted[TCP].dport), (40000, 5001))
        quoted = IPv6(icmp_of(self.packets[UDP_V6])[8:EXTENSION])
        self.assertEqual((quoted.src, quoted.dst, quoted.tc, quoted.plen), ("2001:db8:1::1", "2001:db8:2::2", 20 << 2, 68))
        self.assertEqual((quoted[UDP].sport, quoted[UDP].dport), (40001, 5002))
        quoted = IP(icmp_of(self.packets[BARE])[8:EXTENSION])
        self.assertEqual((quoted.src, quoted.dst, quoted.tos, quoted.len, quoted.proto), ("10.5.1.2", "10.6.3.4", 14 << 2, 20, 59))

    def test_the_object(self):
        first = (SENT_MS // 1000 << 32) + (SENT_MS % 1000 << 32) // 1000
        for number, packet in enumerate(self.packets):
            fields = struct.unpack("!BBBBIQQ", icmp_of(packet)[EXTENSION + 8:MAC])
            self.assertEqual(fields, (1, 7, 0, 0, 0x0A090001, first + number, SENT_MS))

    def test_the_mac_is_siphash_of_addresses_and_message_without_checksums(self):
        # The vectors of the reference implementation, so that this one is right.
        self.assertEqual(siphash_2_4_128(KEY, b"").hex(), "a3817f04ba25a8e66df67214c7550293")
        self.assertEqual(siphash_2_4_128(KEY, b"\0").hex(), "da87c1d86b99af44347659119b22fc45")
        for packet in self.packets:
            header, message = bytes(packet)[:-len(icmp_of(packet))], icmp_of(packet)
            addresses = header[8:40] if IPv6 in packet else header[12:20]
            self.assertEqual(mac(KEY, addresses, message), message[MAC:])


if __name__ == "__main__":
    unittest.main()
