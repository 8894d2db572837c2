# SPDX-License-Identifier: BSD-3-Clause
"""What the functional tests work with: namespaces, a router in one of them, traffic, and its metrics."""
import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[2] / "deploy/lib"))  # namespaces and metrics are deploy/try's

from frames import Wire, dscp, ecn, frames_of, udp_to  # noqa: E402
from law import law  # noqa: E402
from metrics import Metrics  # noqa: E402
from namespaces import Host, Namespace, connect, sh  # noqa: E402
from router import ROOT, SURETY, Measured, Router, wait_for  # noqa: E402
from traffic import TcpTransfer, UdpSink, UdpSource, UdpStream, transfer, udp_in_order  # noqa: E402

__all__ = ["Lab", "Measured", "Metrics", "Namespace", "ROOT", "Router", "SURETY", "TcpTransfer", "UdpSink", "UdpSource", "UdpStream",
           "Wire", "connect", "dscp", "ecn", "frames_of", "law", "sh", "transfer", "udp_in_order",
           "udp_to", "wait_for"]


class Lab:
    """A namespace for the router and hosts around it; leaving it removes them all."""

    def __init__(self):
        self.router = Namespace("r")
        self.hosts = []

    def host(self, label, port, addresses, gateways=()):
        self.hosts.append(Host(label, self.router, port, addresses, gateways))
        return self.hosts[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for namespace in [h.namespace for h in self.hosts] + [self.router]:
            namespace.remove()
