# SPDX-License-Identifier: BSD-3-Clause
"""Sessions of accounting as subscribers, with time as an argument. test_radius.py has FreeRADIUS and a router."""
import json

import pytest

import surety_radius
from surety_kea import sessions_of
from surety_radius import REMEMBERED, Adapter, Router, Sessions, Settings

TEXT = """
[router]
port = lan0
lost_after = 900
state = {state}
[plans]
gold = business
[rates]
10/50 = home
2.5/10M = small
[users]
carl = home
[default]
plan = small
"""
SETTINGS = Settings(TEXT.format(state="/nowhere"))


def attributes(status="Start", session="s1", **more):
    found = {"Acct-Status-Type": status, "Acct-Session-Id": session, "NAS-Identifier": "bng1", "User-Name": "ann",
             "Framed-IP-Address": "10.1.0.7", **{key.replace("_", "-"): value for key, value in more.items()}}
    return {key: {"type": "string", "value": value if isinstance(value, list) else [value]} for key, value in found.items() if value is not None}


def subscriber(plan="small", prefixes=("10.1.0.7/32",)):
    return {"plan": plan, "port": "lan0", "prefixes": list(prefixes)}


@pytest.fixture
def sessions():
    return Sessions(SETTINGS)


def test_a_session_is_a_subscriber_until_its_stop(sessions):
    assert sessions.account(attributes(), 0)
    assert sessions.subscribers() == {"ann": subscriber()}
    assert not sessions.account(attributes("Interim-Update"), 300), "nothing new"
    assert sessions.account(attributes("Interim-Update", Delegated_IPv6_Prefix="2001:db8:7::/56"), 600)
    assert sessions.subscribers() == {"ann": subscriber(prefixes=["10.1.0.7/32", "2001:db8:7::/56"])}
    assert sessions.account(attributes("Stop"), 700) and sessions.subscribers() == {}


def test_what_is_repeated_or_late_changes_nothing(sessions):
    sessions.account(attributes(), 0)
    assert not sessions.account(attributes(), 1)
    assert sessions.account(attributes("Stop"), 2)
    for late in ("Stop", "Interim-Update", "Start"):
        assert not sessions.account(attributes(late), 3), late
    assert sessions.subscribers() == {}
    sessions.expire(2 + REMEMBERED + 1)
    assert sessions.account(attributes(), 2 + REMEMBERED + 2), "the ID is used again"


def test_an_id_is_used_again_by_its_time(sessions):
    def account(status, at):
        return sessions.account(attributes(status, Event_Timestamp=str(at)), 0)
    assert account("Start", 1) and account("Stop", 2.5) and not account("Interim-Update", 2)
    assert account("Interim-Update", 3) and not account("Stop", 2.5), "of the session before"
    assert sessions.subscribers() == {"ann": subscriber()}
    assert not account("Interim-Update", 4) and account("Stop", 4) and sessions.subscribers() == {}


def test_what_comes_late_by_its_time_changes_nothing(sessions):
    def account(status, at, **more):
        return sessions.account(attributes(status, Event_Timestamp=at and str(at), **more), 0)
    account("Start", 10)
    assert not account("Interim-Update", 3, User_Name="bob") and not account("Stop", 5)
    assert sessions.subscribers() == {"ann": subscriber()}
    sessions.disconnect(attributes(None), 0)
    assert not account("Interim-Update", 11) and sessions.subscribers() == {}, "disconnected"
    account("Start", 12, Acct_Session_Id="s2")
    account("Start", 13, Acct_Session_Id="s3", User_Name="bob")
    assert not account("Interim-Update", 14, Acct_Session_Id="s2") and set(sessions.subscribers()) == {"bob"}, "its address was taken"
    assert account("Stop", None, Acct_Session_Id="s3") and sessions.subscribers() == {}, "a Stop without a time"


def test_another_user_of_an_id_has_a_plan_of_his_own(sessions):
    sessions.account(attributes(User_Name="carl"), 0)
    sessions.account(attributes("Interim-Update", User_Name="bob"), 1)
    assert sessions.subscribers() == {"bob": subscriber()}
    sessions.account(attributes("Interim-Update", User_Name=None), 2)
    assert sessions.subscribers() == {"bob": subscriber()}, "a request that names none"


def test_a_user_has_the_plan_of_the_settings_until_a_request_names_one(sessions):
    sessions.account(attributes(User_Name="carl"), 0)
    assert sessions.subscribers() == {"carl": subscriber("home")}
    sessions.account(attributes("Interim-Update", User_Name="carl", Filter_Id="gold"), 1)
    sessions.account(attributes("Interim-Update", User_Name="carl"), 2)
    assert sessions.subscribers() == {"carl": subscriber("business")}


def test_an_interim_update_without_its_start_begins_a_session(sessions):
    assert sessions.account(attributes("3"), 0)
    assert sessions.subscribers() == {"ann": subscriber()}


@pytest.mark.parametrize("more, plan", [
    ({"Filter_Id": "gold"}, "business"), ({"Filter_Id": "unknown"}, "small"),
    ({"WISPr_Bandwidth_Max_Up": "10000000", "WISPr_Bandwidth_Max_Down": 50000000}, "home"),
    ({"WISPr_Bandwidth_Max_Up": "much", "WISPr_Bandwidth_Max_Down": "1"}, "small"),
    ({"Mikrotik_Rate_Limit": "10M/50M 20M/60M 1/1 8"}, "home"), ({"Mikrotik_Rate_Limit": "2500k/10000000"}, "small"),
    ({"Mikrotik_Rate_Limit": " "}, "small"), ({"X_Unknown": "x"}, "small")])
def test_a_plan_follows_from_attributes(sessions, more, plan):
    sessions.account(attributes(**more), 0)
    assert sessions.subscribers() == {"ann": subscriber(plan)}


def test_a_change_of_authorization_changes_the_plan_until_the_next_one(sessions):
    sessions.account(attributes(), 0)
    assert sessions.change(attributes(None, None, Filter_Id="gold")) and not sessions.change(attributes(None, None, Filter_Id="gold"))
    assert not sessions.account(attributes("Interim-Update"), 300)
    assert sessions.subscribers() == {"ann": subscriber("business")}
    assert not sessions.change(attributes(None, None, User_Name="bob", Filter_Id="gold"))
    assert not sessions.change(attributes(None, None, Filter_Id="unknown"))
    assert not sessions.disconnect(attributes(None, "s2"), 301)
    assert sessions.disconnect(attributes(None, None), 302) and sessions.subscribers() == {}


def test_an_address_has_one_owner(sessions):
    sessions.account(attributes(), 0)
    assert sessions.account(attributes(session="s2", User_Name="bob"), 10)
    assert sessions.subscribers() == {"bob": subscriber()}
    assert not sessions.account(attributes("Stop"), 20) and sessions.subscribers() == {"bob": subscriber()}, "the late Stop of the other one"


def test_sessions_of_a_user_are_one_subscriber(sessions):
    sessions.account(attributes(), 0)
    sessions.account(attributes(session="s2", Framed_IP_Address="10.1.0.8", Filter_Id="gold"), 1)
    assert sessions.subscribers() == {"ann": subscriber("business", ["10.1.0.7/32", "10.1.0.8/32"])}
    sessions.account(attributes("Stop"), 2)
    assert sessions.subscribers() == {"ann": subscriber("business", ["10.1.0.8/32"])}


def test_a_lost_stop_ends_by_time_and_a_nas_that_begins_again_has_no_sessions(sessions):
    sessions.account(attributes(), 0)
    sessions.account(attributes(session="s2", Framed_IP_Address="10.1.0.8", User_Name="bob", NAS_Identifier="bng2"), 500)
    assert not sessions.expire(900) and sessions.expire(901)
    assert list(sessions.subscribers()) == ["bob"]
    assert not sessions.account(attributes("Accounting-On"), 902)
    assert sessions.account(attributes("7", None, NAS_Identifier="bng2"), 903) and sessions.subscribers() == {}


def test_a_flood_of_sessions_is_bounded_and_ends_no_other_one(sessions, monkeypatch):
    monkeypatch.setattr(surety_radius, "MOST", 100)
    sessions.account(attributes(session="first"), 0)
    for n in range(110):
        sessions.account(attributes(session=f"f{n}", User_Name=f"u{n}", Framed_IP_Address=f"10.2.0.{n}"), 1)
    found = sessions.subscribers()
    assert len(found) == 100 and found["ann"] == subscriber() and sessions.refused == 11
    assert sessions.account(attributes(session="again", User_Name="eve", Framed_IP_Address="10.2.0.3"), 1), "it replaces a session"
    assert sessions.account(attributes("Stop", "f7"), 2) and sessions.account(attributes(session="late", User_Name="bob", Framed_IP_Address="10.9.0.1"), 2)
    for n in range(200):
        sessions.account(attributes("Stop", f"never{n}"), 4)
    assert len(sessions._ended) == 100 and {"ann", "bob"} <= sessions.subscribers().keys()


def test_names_and_addresses_are_made_valid(sessions):
    sessions.account(attributes(User_Name="ann@isp.example/№1", Framed_IP_Address=["10.1.0.7", "nonsense", "0.0.0.0"]), 0)
    name, = sessions.subscribers()
    assert name.startswith("u-ann-isp.example--1-") and sessions.subscribers()[name] == subscriber()
    sessions.account(attributes(session="s2", User_Name="-" * 300, Framed_IP_Address="10.1.0.8", Framed_IPv6_Prefix="2001:db8::/64"), 1)
    assert {len(n) <= 63 for n in sessions.subscribers()} == {True} and len(sessions.subscribers()) == 2
    sessions.account(attributes(session="s3", User_Name="carl", Framed_IP_Address=None), 2)
    assert "carl" not in sessions.subscribers(), "has no address yet"


def test_no_user_gets_the_contract_of_another_by_a_similar_name(sessions):
    for n, user in enumerate(("ann@isp", "ann-isp", "ann/isp", "x" * 70 + "1", "x" * 70 + "2")):
        sessions.account(attributes(session=f"s{n}", User_Name=user, Framed_IP_Address=f"10.1.0.{n}"), n)
    assert len(sessions.subscribers()) == 5 and "ann-isp" in sessions.subscribers()


def test_incomplete_requests_are_left_out(sessions):
    for request in ({}, {"Acct-Status-Type": {"value": []}}, attributes(None), attributes(session=None), attributes("Failed")):
        assert not sessions.account(request, 0)
    assert sessions.stored() == {}


class Refusing(Router):
    """A router that refuses lists with certain subscribers."""

    def __init__(self, refused):
        super().__init__(SETTINGS)
        self.refused, self.lists = set(refused), []

    def _import(self, subscribers):
        self.lists.append(sorted(subscribers))
        wrong = self.refused & subscribers.keys()
        return not wrong, "".join(f"error: {name}\n" for name in wrong)


def test_one_that_the_router_refuses_keeps_no_other_out(capsys):
    router = Refusing(["c3"])
    everybody = {f"c{n}": subscriber(prefixes=[f"10.1.0.{n}/32"]) for n in range(8)}
    assert router.give(everybody)
    assert router.lists[-1] == [f"c{n}" for n in range(8) if n != 3] and "refused: c3" in capsys.readouterr().err
    del router.lists[:]
    assert router.give({**everybody, "c9": subscriber()})
    assert router.lists[-1] == [f"c{n}" for n in (0, 1, 2, 4, 5, 6, 7, 9)]


def test_a_router_that_is_busy_is_asked_again():
    router = Refusing(["c1"])
    router._import = lambda subscribers: (False, "surety subscribers import: alice is changing it")
    assert not router.give({"c1": subscriber()})


def test_sessions_are_stored(tmp_path):
    state = tmp_path / "below" / "sessions.json"
    settings, router = Settings(TEXT.format(state=state)), Refusing([])
    adapter = Adapter(settings, router)
    adapter.request("accounting", attributes())
    killed = Adapter(settings, router)  # in place of one that was killed after its answer
    killed.step()
    assert router.lists == [["ann"]]
    killed.request("accounting", attributes(session="s2", User_Name="bob", Framed_IP_Address="10.1.0.8"))
    with open(state.with_suffix(".journal"), "a") as journal:
        journal.write("[1, ")
    del router.lists[:]
    adapter = Adapter(settings, router)
    adapter.step()
    assert router.lists == [["ann", "bob"]]
    adapter.request("accounting", attributes("Stop", "s2"))
    adapter.step()
    del router.lists[:-1]
    assert json.loads(state.read_text())["bng1/s1"]["user"] == "ann" and router.lists == [["ann"]]
    again = Adapter(settings, router)
    again.request("accounting", attributes())
    again.step()
    assert router.lists == [["ann"], ["ann"]], "once more, since nobody knows what it has"


def test_settings_say_where_subscribers_are():
    with pytest.raises(ValueError, match="port"):
        Settings("[router]\nname = x\n")


def test_a_lease_of_kea_is_the_session_of_its_line_and_not_of_what_its_client_says():
    lease = {"LEASES4_SIZE": "1", "LEASES4_AT0_ADDRESS": "10.1.0.7", "LEASES4_AT0_HWADDR": "02:00:00:00:00:07", "LEASES4_AT0_HOSTNAME": "bob",
             "DELETED_LEASES4_SIZE": "1", "DELETED_LEASES4_AT0_ADDRESS": "10.1.0.8", "QUERY4_OPTION_82_SUB_OPTION_1": "0x" + b"eth1/3".hex()}

    def users(**more):
        said = [{key: value["value"][0] for key, value in s.items()} for s in sessions_of("leases4_committed", {**lease, **more}, 5.0)]
        assert [(s["Acct-Status-Type"], s["Acct-Session-Id"]) for s in said] == [("Stop", "10.1.0.8"), ("Interim-Update", "10.1.0.7")]
        return said[1]["User-Name"]
    assert users() == "020000000007", "no relay has said it"
    assert users(QUERY4_RELAYED="true") == "eth1/3"
    assert users(QUERY4_RELAYED="true", QUERY4_OPTION_82_SUB_OPTION_1="0x0004ff", QUERY4_OPTION_82_SUB_OPTION_2="") == "0x0004ff", "no text"
    [renewal] = list(sessions_of("leases4_committed", {**lease, "DELETED_LEASES4_SIZE": "0", "QUERY4_CIADDR": "10.1.0.7"}, 5.0))
    assert "User-Name" not in renewal, "it goes past the relay"
    for event, at in (("lease4_release", 600), ("lease4_expire", 120), ("lease4_decline", 600)):
        [ended] = sessions_of(event, {"LEASE4_ADDRESS": "10.1.0.7", "LEASE4_CLTT": "20", "LEASE4_VALID_LIFETIME": "100"}, 600.0)
        assert (ended["Acct-Status-Type"]["value"], ended["Event-Timestamp"]["value"]) == (["Stop"], [at])
    assert not list(sessions_of("lease4_renew", {"LEASE4_ADDRESS": "10.1.0.7"}, 7.0)), "leases4_committed follows"
