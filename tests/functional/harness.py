# SPDX-License-Identifier: BSD-3-Clause
"""What the functional tests work with: namespaces, a router in one of them, traffic, and its metrics."""
from frames import Wire, dscp, ecn, frames_of, udp_to
from metrics import Metrics, law
from namespaces import Lab, Namespace, connect, sh
from router import ROOT, SURETY, Router, wait_for
from traffic import TcpTransfer, UdpSink, UdpSource, transfer, udp_in_order

__all__ = ["Lab", "Metrics", "Namespace", "ROOT", "Router", "SURETY", "TcpTransfer", "UdpSink", "UdpSource",
           "Wire", "connect", "dscp", "ecn", "frames_of", "law", "sh", "transfer", "udp_in_order",
           "udp_to", "wait_for"]
