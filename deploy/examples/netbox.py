#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Subscribers from NetBox, as a list for `surety subscribers import` on standard output.

    NETBOX_TOKEN=... python3 netbox.py https://netbox.example --port lan0 >LIST && surety subscribers import LIST --owner netbox

A subscriber is the active prefixes with the tag `surety` of one tenant: those with one VLAN are the line `TENANT-VID`, where the router has the
first address of each prefix; those without a VLAN are `TENANT`, known by its addresses. The custom field `plan` names the plan, and
`suspended`, if there is one, suspends. Needs Debian's python3-pynetbox. A mistake is named, and prints no list: one that lacks subscribers would
remove them."""
import argparse
import ipaddress
import json
import os
import sys

import pynetbox
import requests


def first_address(prefix):
    network = ipaddress.ip_network(prefix)
    return f"{network[0] if network.num_addresses <= 2 else network[1]}/{network.prefixlen}"


def add(subscribers, record, place):
    """Adds a prefix of NetBox. Throws ValueError."""
    tenant, vlan, fields = record.tenant, record.vlan, record.custom_fields
    if tenant is None:
        raise ValueError("it has no tenant")
    if not fields.get("plan"):
        raise ValueError("its custom field `plan` is empty")
    name = f"{tenant.slug}-{vlan.vid}" if vlan else tenant.slug
    terms = {"plan": fields["plan"], **place, **({"vlan": vlan.vid} if vlan else {}), **({"suspended": True} if fields.get("suspended") else {})}
    known = subscribers.setdefault(name, {**terms, "addresses" if vlan else "prefixes": []})
    if {key: value for key, value in known.items() if key not in ("addresses", "prefixes")} != terms:
        raise ValueError(f"another prefix of {name} has another plan or state")
    if vlan:
        known["addresses"].append(first_address(record.prefix))
    else:
        known["prefixes"].append(record.prefix)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("netbox")
    parser.add_argument("--tag", default="surety")
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--port", help="of the router, where the subscribers are")
    place.add_argument("--interface", help="of the router, in place of a port")
    arguments = parser.parse_args()
    where = {"port": arguments.port} if arguments.port else {"interface": arguments.interface}
    netbox = pynetbox.api(arguments.netbox, token=os.environ.get("NETBOX_TOKEN"))
    subscribers, mistakes = {}, []
    try:
        for record in netbox.ipam.prefixes.filter(tag=arguments.tag, status="active"):
            try:
                add(subscribers, record, where)
            except ValueError as mistake:
                mistakes.append(f"{record.prefix}: {mistake}")
    except (pynetbox.ContentError, pynetbox.RequestError, requests.RequestException) as e:
        mistakes.append(f"{arguments.netbox}: {e}")
    if not subscribers and not mistakes:
        mistakes.append(f"no active prefix has the tag `{arguments.tag}`")
    if mistakes:
        sys.exit("\n".join(mistakes))
    print(json.dumps(subscribers, indent=1))


if __name__ == "__main__":
    main()
