# SPDX-License-Identifier: BSD-3-Clause
"""`surety subscribers`: what other systems and hands change, and what is refused. test_interface_queues.py has it under load."""
import http.server
import json
import subprocess
import threading
import urllib.parse

import pytest

from managed import Managed
from router import ROOT, SURETY

COLUMNS = "name,plan,port,vlan,addresses\n"
ACME, GLOBEX = "acme,gold,lan,107,203.0.113.1/30\n", "globex,silver,lan,108,203.0.113.5/30 2001:db8::1/64\n"
PLANS = """include: subscribers/*.yaml
plans: {gold: {service: gold}, silver: {service: gold, shape: 5 Mbit/s}}
subscribers: {initech: {plan: gold, port: wan, vlan: 1}}
"""


@pytest.fixture(scope="module")
def router():
    with Managed() as managed:
        managed.write(managed.file, more=PLANS)
        yield managed.start()


@pytest.fixture(autouse=True)
def nobody(router):
    yield
    owners = {row["owner"] for row in listed(router)} - {"file"}
    for owner in owners:
        write(router, COLUMNS)
        router.run("subscribers", "import", router.top / "list.csv", "--owner", owner, "--allow-removals", 100)


def write(router, text):
    file = router.top / "list.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def imported(router, text, *more):
    return router.run("subscribers", "import", write(router, text), *more)


def not_changed(router, *words):
    """The sentence; nothing has changed."""
    before, running = listed(router), router.running()
    said = router.refused("subscribers", *words)
    assert listed(router) == before and router.running() == running
    return said


def not_imported(router, text, *more):
    return not_changed(router, "import", write(router, text), *more)


def listed(router, *more):
    return json.loads(router.run("subscribers", "list", "--json", *more).stdout)


def plans(router):
    return {row["name"]: row["plan"] for row in listed(router)}


def test_a_list_is_imported_changed_and_rolled_back(router):
    said = imported(router, COLUMNS + ACME + GLOBEX, "--why", "the billing").stdout
    assert said.startswith("2 added, 0 changed, 0 removed, 0 as before\n") and said.endswith("in effect\n")
    assert plans(router) == {"acme": "gold", "globex": "silver", "initech": "gold"}
    acme = listed(router, "acme")[0]
    assert (acme["owner"], acme["place"], acme["suspended"]) == ("import", "lan 107", False)
    assert "acme" in router.run("subscribers", "list", "--owner", "import").stdout and len(listed(router, "--owner", "file")) == 1
    last = router.history()[-1]
    assert (last["how"], last["why"]) == ("subscribers import", "the billing")
    interfaces = {row["name"]: row for row in json.loads(router.run("show", "interfaces", "--json").stdout)}
    assert interfaces["globex"]["shape_bytes_per_second"] == 625_000
    assert "nothing to change" in imported(router, COLUMNS + ACME + GLOBEX).stdout
    said = imported(router, COLUMNS + GLOBEX.replace("silver", "gold"), "--dry-run").stdout
    assert said.startswith("0 added, 1 changed, 1 removed, 0 as before\n") and "plan silver -> gold" in said and "not applied" in said
    assert plans(router) == {"acme": "gold", "globex": "silver", "initech": "gold"}
    imported(router, COLUMNS + GLOBEX.replace("silver", "gold"))
    assert plans(router) == {"globex": "gold", "initech": "gold"}
    router.run("rollback")
    assert plans(router) == {"acme": "gold", "globex": "silver", "initech": "gold"}
    router.stop()
    router.start()
    assert plans(router) == {"acme": "gold", "globex": "silver", "initech": "gold"}, "after a start"


@pytest.mark.parametrize("text", [
    b"\xef\xbb\xbf" + (COLUMNS + "\n" + ACME + "\n").replace("\n", "\r\n").encode(),
    'vlan,"name",addresses,plan,port\n107,"acme","203.0.113.1/30;",gold,lan',
    json.dumps({"subscribers": {"acme": {"plan": "gold", "port": "lan", "vlan": 107, "addresses": ["203.0.113.1/30"]}}}),
    json.dumps([{"name": "acme", "plan": "gold", "port": "lan", "vlan": 107, "addresses": "203.0.113.1/30"}]),
], ids=["mark, CR LF, empty lines", "quotes, no end of line", "object", "list"])
def test_forms_of_a_list(router, text):
    imported(router, text)
    assert plans(router) == {"acme": "gold", "initech": "gold"} and listed(router, "acme")[0]["place"] == "lan 107"


@pytest.mark.parametrize("text, said", [
    ("", "empty"),
    (COLUMNS + ACME + ACME, "line 3: there is already a subscriber acme on line 2"),
    (COLUMNS + ACME + "\n" + GLOBEX.replace("108", "107"), "list.csv:4:"),
    (COLUMNS + ACME + GLOBEX.replace("203.0.113.5", "203.0.113.1"), "list.csv:3:"),
    (COLUMNS + ACME.replace("gold", "golden"), "did you mean `gold`?"),
    (COLUMNS + ACME.replace("lan", "land"), "list.csv:2:"),
    (COLUMNS + "acme,gold\n", "line 2: 2 fields, but the header has 5"),
    (COLUMNS.replace("vlan", "vlam") + ACME, "line 1: there is no column `vlam`"),
    (COLUMNS + '"acme,gold', "line 2: a quoted field does not end"),
    (COLUMNS + "a" * 10_000 + ",gold,lan,107,\n", "line 2: `aaaa"),
    (COLUMNS + "ac\x01me,gold,lan,107,\n", "cannot name a subscriber"),
    (COLUMNS + "".join(f"c{n},gold,lan,{n},\n" for n in range(1, 300_000)), "4 MiB"),
    ('{"acme": {"plan": "gold"}, "acme": {"plan": "silver"}}', "`acme` is there twice"),
    ('{"acme": ', "parse error at line 1"),
    ("[7]", "expected an object"),
    (COLUMNS + "initech,gold,lan,107,\n", "initech"),
], ids=lambda value: value.replace("\n", " ")[:40] if "line" in value or "acme" in value else None)
def test_a_list_with_a_mistake_changes_nothing(router, text, said):
    assert said in not_imported(router, text)


def test_one_is_shown_with_all_it_has(router):
    imported(router, COLUMNS + ACME + GLOBEX)
    text = router.run("subscribers", "show", "globex").stdout
    assert "lan 108" in text and "5 Mbit/s" in text and "acme" not in text, text
    shown = json.loads(router.run("subscribers", "show", "globex", "--json").stdout)
    assert (shown["plan"], shown["interfaces"][0]["shape_bytes_per_second"]) == ("silver", 625_000)
    assert {row["interface"] for row in shown["queues"]} == {"globex"} and shown["contracts"] == []
    assert "no subscriber is called `acm`" in router.refused("subscribers", "show", "acm")


def test_a_short_list_removes_nobody(router):
    everybody = "".join(f"c{n},gold,lan,{n},\n" for n in range(1, 21))
    imported(router, COLUMNS + everybody)
    said = not_imported(router, COLUMNS + "".join(everybody.splitlines(keepends=True)[:17]))
    assert "3 of 20 subscribers would be removed, 15 %" in said and "--allow-removals 15" in said
    assert "0 added, 0 changed, 3 removed" in imported(router, COLUMNS + "".join(everybody.splitlines(keepends=True)[:17]), "--allow-removals", 15).stdout


def test_a_list_is_shown_beside_imports(router):
    """Files are installed one by one: what is read meanwhile is read again."""
    def imports():
        for n in range(12):
            imported(router, COLUMNS + (ACME if n % 2 else GLOBEX), "--allow-removals", 100)
    thread = threading.Thread(target=imports)
    thread.start()
    shown = 0
    while thread.is_alive():
        assert "initech" in plans(router)
        shown += 1
    thread.join()
    assert shown > 0 and plans(router) == {"acme": "gold", "initech": "gold"}


def test_each_owner_has_its_own(router):
    imported(router, COLUMNS + ACME)
    imported(router, COLUMNS + GLOBEX, "--owner", "billing")
    router.run("subscribers", "add", "hooli", "plan=gold", "port=lan", "vlan=200", "inner_vlan=1-9", "addresses=198.51.100.1/28 2001:db8:1::1/64")
    assert {row["name"]: row["owner"] for row in listed(router)} == {"acme": "import", "globex": "billing", "hooli": "manual", "initech": "file"}
    imported(router, COLUMNS + ACME.replace("gold", "silver"))
    assert plans(router) == {"acme": "silver", "globex": "silver", "hooli": "gold", "initech": "gold"}
    router.run("subscribers", "set", "globex", "plan=gold", "addresses=")
    assert plans(router)["globex"] == "gold"
    router.run("subscribers", "add", "pied", "plan=silver", "port=wan", "prefixes=192.168.0.7 2001:db8:7::/56")
    assert listed(router, "pied")[0]["place"] == "wan 192.168.0.7 2001:db8:7::/56"
    imported(router, "name,plan,interface,prefixes,port\nhome,gold,,10.1.0.7;10.1.9.0/24,lan\n")
    assert listed(router, "home")[0]["place"] == "lan 10.1.0.7 10.1.9.0/24"
    router.run("subscribers", "remove", "pied")
    imported(router, COLUMNS + ACME.replace("gold", "silver"))
    for words in (["set", "acme", "plan=gold", "--owner", "billing"], ["remove", "acme", "initech"], ["suspend", "nobody"],
                  ["add", "acme", "plan=gold", "port=lan", "vlan=109"], ["add", "x", "plan=gold", "port=lan", "vlan=107"],
                  ["set", "acme", "plan"], ["set", "acme", "speed=1"], ["add", "x", "--owner", "../x"], ["list", "nobody"]):
        before = listed(router)
        router.refused("subscribers", *words)
        assert listed(router) == before
    router.run("subscribers", "remove", "acme", "hooli")
    assert plans(router) == {"globex": "gold", "initech": "gold"}


def test_a_batch_is_one_change_that_is_made_once(router):
    imported(router, COLUMNS + ACME)
    batch = write(router, "# of the portal\nadd hooli plan=gold port=lan vlan=120 addresses=198.51.100.1/30;2001:db8:5::1/64\n\nset acme plan=silver\nsuspend acme\n"
                          "suspend hooli\n")
    before = len(router.history())
    assert router.run("subscribers", "batch", batch, "--id", "order-1").stdout.endswith("in effect\n")
    rows = {row["name"]: (row["plan"], row["owner"], row["suspended"]) for row in listed(router)}
    assert rows == {"acme": ("silver", "import", True), "hooli": ("gold", "manual", True), "initech": ("gold", "file", False)}
    last = router.history()[-1]
    assert len(router.history()) == before + 1 and last["how"] == "subscribers batch --id order-1"
    router.run("subscribers", "resume", "acme")
    assert router.run("subscribers", "batch", batch, "--id", "order-1").stdout == f"made before: generation {last['generation']}\n"
    assert not listed(router, "acme")[0]["suspended"]
    for line, said in (("remove nobody", "no owner has a subscriber `nobody`"), ("rename acme x", "expected add, set, remove"), ("suspend", "needs the name"),
                       ("suspend acme hooli", "takes one name"), ("add x plan=gold port=lan vlan=107", "vlan"), ("set acme plan", "expected KEY=VALUE")):
        refused = not_changed(router, "batch", write(router, f"remove hooli\n{line}\n"))
        assert said.casefold() in refused.casefold() and (said == "vlan" or "list.csv:2: " in refused), refused


SHAPED = ("Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,Download Min Mbps,Upload Min Mbps,Download Max Mbps,"
          "Upload Max Mbps,Comment\n"
          '1,"968 Circle St., Gurnee, IL",1,Device 1,AP_A,,"10.1.0.7, 10.1.0.8",,25,5,155,20,\n'
          "2,31 Marconi Street,2,Device 2,AP_A,,10.1.0.9,2001:db8::/56,2.5,1,105,18,\n")


def test_a_list_of_libreqos_is_taken_as_it_is(router):
    assert "needs `--like PLAN`" in not_imported(router, SHAPED)
    assert "there is no plan `nobody`" in not_imported(router, SHAPED, "--like", "nobody", "--port", "lan")
    assert "2 added" in imported(router, SHAPED, "--like", "silver", "--port", "lan").stdout
    assert plans(router) == {"1": "import-25-5-155-20", "2": "import-2.5-1-105-18", "initech": "gold"}
    shapes = {row["name"]: row.get("shape_bytes_per_second") for row in json.loads(router.run("show", "interfaces", "--json").stdout)}
    assert (shapes["1"], shapes["2"]) == (155e6 / 8, 105e6 / 8)
    assert "5 Mbit/s import-25-5-155-20" in subprocess.run([SURETY, "check", router.file], capture_output=True, text=True).stdout
    router.run("subscribers", "suspend", "1")
    assert "0 added, 1 changed, 0 removed, 1 as before" in imported(router, SHAPED.replace("155,20", "155,40"), "--like", "silver", "--port", "lan").stdout
    assert plans(router)["1"] == "import-25-5-155-40" and listed(router, "1")[0]["suspended"]
    said = not_imported(router, SHAPED.replace("10.1.0.9", "10.1.0.8"), "--like", "silver", "--port", "lan")
    assert "list.csv:3:" in said and "is of subscriber `1`, too" in said


def test_a_suspension_lasts_until_it_is_ended(router):
    imported(router, COLUMNS + ACME + GLOBEX)
    router.run("subscribers", "suspend", "acme", "globex", "--why", "unpaid")
    assert [row["name"] for row in listed(router) if row["suspended"]] == ["acme", "globex"]
    imported(router, COLUMNS + ACME.replace("gold", "silver") + GLOBEX)
    assert [row["name"] for row in listed(router) if row["suspended"]] == ["acme", "globex"]
    router.run("subscribers", "resume", "acme")
    assert [row["name"] for row in listed(router) if row["suspended"]] == ["globex"]
    imported(router, "name,plan,port,vlan,suspended\nacme,gold,lan,107,yes\nglobex,gold,lan,108,\n")
    assert [row["name"] for row in listed(router) if row["suspended"]] == ["acme"], "the list says who"


def test_the_operators_files_are_left_alone(router):
    def refused(*words):
        return router.refused("subscribers", *words)

    text = router.file.read_text()
    router.file.write_text(text + "# being edited\n")
    assert "was edited" in refused("import", write(router, COLUMNS + ACME))
    router.file.write_text(text.replace("include: subscribers/*.yaml\n", ""))
    router.run("reload")
    assert "add `include: subscribers/*.yaml`" in refused("import", write(router, COLUMNS + ACME))
    router.file.write_text(text)
    folder = router.file.parent / "subscribers"
    folder.mkdir(exist_ok=True)
    (folder / "import.yaml").write_text("subscribers: {}\n")
    router.run("reload")
    assert "a file of the operator's" in refused("import", write(router, COLUMNS + ACME))
    (folder / "import.yaml").unlink()
    router.run("reload")


class NetBox(http.server.BaseHTTPRequestHandler):
    """The prefixes of NetBox's REST API, in pages."""
    PAGE, prefixes = 60, ()

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if self.headers["Authorization"] == "Token late":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>log in</html>")
            return None
        if url.path != "/api/ipam/prefixes/" or self.headers["Authorization"] != "Token secret":
            return self.send_error(403)
        found = [p for p in self.prefixes if p["status"]["value"] == query["status"] and query["tag"] in p["tags"]]
        begin = int(query.get("offset", 0))
        more = f"http://{self.headers['Host']}/api/ipam/prefixes/?" + urllib.parse.urlencode({**query, "limit": self.PAGE, "offset": begin + self.PAGE})
        page = {"count": len(found), "next": more if begin + self.PAGE < len(found) else None, "results": found[begin:begin + self.PAGE]}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(page).encode())


def in_netbox(prefix, tenant, vid=None, plan="gold", status="active", **fields):
    return {"prefix": prefix, "tenant": tenant and {"slug": tenant, "name": tenant.title()}, "vlan": vid and {"vid": vid, "name": f"vlan {vid}"},
            "status": {"value": status}, "tags": ["surety"], "custom_fields": {"plan": plan, **fields}}


@pytest.fixture(scope="module")
def netbox():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), NetBox) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def run(prefixes, token="secret"):
            NetBox.prefixes = prefixes
            return subprocess.run(["/usr/bin/python3", ROOT / "deploy/examples/netbox.py", f"http://127.0.0.1:{server.server_port}", "--port", "lan"],
                                  env={"NETBOX_TOKEN": token}, capture_output=True, text=True, timeout=60)
        yield run
        server.shutdown()


def test_subscribers_of_netbox(router, netbox):
    lines = [in_netbox(f"203.0.{n}.0/30", f"c{n}", n) for n in range(1, 101)]
    others = [in_netbox("2001:db8:1::/64", "c1", 1), in_netbox("198.51.100.0/31", "late", 200, plan="silver", suspended=True),
              in_netbox("198.51.100.8/29", "initrode"), in_netbox("198.51.100.16/29", "initrode"), in_netbox("192.0.2.0/24", "gone", status="deprecated")]
    done = netbox(lines + others)
    assert (done.returncode, done.stderr) == (0, "")
    assert imported(router, done.stdout, "--owner", "netbox").stdout.startswith("102 added,")
    rows = {row["name"]: row for row in listed(router, "--owner", "netbox")}
    assert len(rows) == 102 and rows["c100-100"]["place"] == "lan 100" and rows["late-200"]["suspended"] and rows["late-200"]["plan"] == "silver"
    assert "198.51.100.8/29" in rows["initrode"]["place"] and "198.51.100.16/29" in rows["initrode"]["place"]
    routes = {row["prefix"] for row in json.loads(router.run("show", "routes", "--json").stdout)}
    assert {"203.0.1.0/30", "2001:db8:1::/64", "198.51.100.0/31"} <= routes
    assert "nothing to change" in imported(router, netbox(lines + others).stdout, "--owner", "netbox").stdout


@pytest.mark.parametrize("prefixes, token, said", [
    ([in_netbox("203.0.1.0/30", None, 1)], "secret", "203.0.1.0/30: it has no tenant"),
    ([in_netbox("203.0.1.0/30", "c1", 1, plan=None)], "secret", "`plan` is empty"),
    ([in_netbox("203.0.1.0/30", "c1", 1), in_netbox("203.0.2.0/30", "c1", 1, plan="silver")], "secret", "another prefix of c1-1 has another plan"),
    ([], "stolen", "403"),
    ([], "late", "http://127.0.0.1:"),
    ([in_netbox("203.0.1.0/30", "c1", 1, status="reserved")], "secret", "no active prefix has the tag `surety`"),
], ids=["no tenant", "no plan", "two plans", "no access", "a page for people", "nothing"])
def test_a_mistake_in_netbox_prints_no_list(netbox, prefixes, token, said):
    done = netbox(prefixes, token)
    assert done.returncode == 1 and done.stdout == "" and said in done.stderr and "Traceback" not in done.stderr
