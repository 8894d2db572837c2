#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""surety_kea.py EVENT: a lease of Kea is a session of surety-radius. Called by Kea's hook run_script, which describes the lease in the
environment."""
import http.client
import json
import os
import sys
import time

ADAPTER = os.environ.get("SURETY_RADIUS", "127.0.0.1:9466")
SECONDS = 5  # for an answer; the next renewal repeats a lease that is lost, and `lost_after` ends one


def text_of(value):
    """A text that Kea gives in hexadecimal."""
    try:
        text = bytes.fromhex(value.removeprefix("0x")).decode()
    except ValueError:
        return value
    return text if text.isprintable() and text else value


def user_of(lease, environment):
    """The line that a relay names (option 82, sub-options 1 and 2), else the MAC address: a client itself may send any line or name. None
    in a renewal, which goes past the relay: the user stays."""
    if environment.get("QUERY4_RELAYED") == "true":
        for sub in ("1", "2"):
            if line := environment.get(f"QUERY4_OPTION_82_SUB_OPTION_{sub}"):
                return text_of(line)
    elif environment.get("QUERY4_CIADDR", "0.0.0.0") != "0.0.0.0":
        return None
    return lease("HWADDR").replace(":", "")


def sessions_of(event, environment, now):
    """The requests of accounting that an event stands for: attributes by name."""
    def session(status, prefix):
        def lease(what):
            return environment.get(prefix + what, "")
        found = {"Acct-Status-Type": status, "Acct-Session-Id": lease("ADDRESS"), "NAS-Identifier": "kea", "Event-Timestamp": now}
        if status != "Stop":
            found |= {"User-Name": user_of(lease, environment), "Calling-Station-Id": lease("HWADDR").replace(":", ""),
                      "Framed-IP-Address": lease("ADDRESS")}
        return {name: {"type": "string", "value": [value]} for name, value in found.items() if value is not None}

    if event == "leases4_committed":
        for status, kind in (("Stop", "DELETED_LEASES4"), ("Interim-Update", "LEASES4")):
            for n in range(int(environment.get(f"{kind}_SIZE") or 0)):
                yield session(status, f"{kind}_AT{n}_")
    elif event in ("lease4_release", "lease4_expire", "lease4_decline"):
        if event == "lease4_expire":  # noticed later, perhaps after another client has the address
            now = min(now, float(environment["LEASE4_CLTT"]) + float(environment["LEASE4_VALID_LIFETIME"]))
        yield session("Stop", "LEASE4_")


def post(attributes):
    """Whether the adapter has stored it."""
    try:
        adapter = http.client.HTTPConnection(ADAPTER, timeout=SECONDS)
        adapter.request("POST", "/accounting", json.dumps(attributes))
        return adapter.getresponse().status == http.HTTPStatus.NO_CONTENT
    except OSError as e:
        print(f"surety_kea: {ADAPTER}: {e}", file=sys.stderr)
        return False


def main():
    return 0 if all([post(attributes) for attributes in sessions_of(sys.argv[1], os.environ, time.time())]) else 1


if __name__ == "__main__":
    sys.exit(main())
