#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The golden frames are what Scapy makes today, and tshark sees in them what they were made to be."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

UNIT = pathlib.Path(__file__).resolve().parent.parent / "unit"
sys.path.insert(0, str(UNIT / "golden"))

import make_headers  # noqa: E402
from scapy.utils import wrpcap  # noqa: E402


def committed():
    text = (UNIT / "router/pipeline/wire/headers_golden.hex").read_text().splitlines()
    return [line for line in text if not line.startswith("#")]


def frames():
    return {line.split(" | ")[0]: bytes.fromhex(line.rsplit("|", 1)[1].strip()) for line in committed()}


def tshark(frames_by_name, *fields):
    """One row of fields per frame, in order. Checksums are verified, which tshark does not do by default."""
    with tempfile.NamedTemporaryFile(suffix=".pcap") as capture:
        wrpcap(capture.name, list(frames_by_name.values()), linktype=1)
        command = ["tshark", "-r", capture.name, "-T", "fields", "-o", "ip.check_checksum:TRUE",
                   "-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE",
                   "-o", "tcp.analyze_sequence_numbers:FALSE"]
        for field in fields:
            command += ["-e", field]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(zip(frames_by_name, (line.split("\t") for line in text.splitlines()), strict=True))


class Golden(unittest.TestCase):
    maxDiff = None

    def test_scapy_makes_the_same_frames(self):
        self.assertEqual(committed(), list(make_headers.lines()))

    def test_names_are_unique(self):
        self.assertEqual(len(frames()), len(committed()))

    @unittest.skipUnless(shutil.which("tshark"), "tshark is not installed")
    def test_tshark_sees_the_intended_layers(self):
        seen = {name: row[0] for name, row in tshark(frames(), "frame.protocols").items()}
        seen["mpls"] = seen["mpls"].replace(":mpls:udp:", ":mpls:ip:udp:")  # tshark 4.4 does not name it there
        self.assertEqual(seen, make_headers.LAYERS)

    @unittest.skipUnless(shutil.which("tshark"), "tshark is not installed")
    def test_tshark_finds_ipv4_checksums_right(self):
        for name, (status,) in tshark(frames(), "ip.checksum.status").items():
            with self.subTest(name):
                self.assertNotIn("0", status)  # 0: bad, 1: good, empty: no IPv4 header


if __name__ == "__main__":
    unittest.main()
