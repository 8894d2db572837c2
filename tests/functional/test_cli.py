# SPDX-License-Identifier: BSD-3-Clause
"""The command line: what `surety` prints, refuses, and leaves behind."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading

import pytest

from harness import ROOT, SURETY, Router, UdpSource, sh
from metrics import scrape
from pair import LAN, WAN, Pair, ports
from router import START, STOP, ends_within, wait_for

EXAMPLES = sorted(p for p in (ROOT / "config/examples").glob("*.yaml") if not p.name.startswith(("endpoints", "lab-")))
NULL_PORTS = "ports:\n  p0: {device: null}\n  p1: {device: null}\n"


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        yield pair


def surety(*arguments, check=True):
    return sh(SURETY, *arguments, check=check)


# --- surety, surety check ---

def test_version():
    version = re.search(r"project\(surety VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    assert surety("--version").stdout == f"{version}\n"


def test_help_names_every_command():
    text = surety("--help").stdout
    for command in ("run", "check", "show", "bench"):
        assert re.search(rf"^  {command} ", text, re.M)


@pytest.mark.parametrize("arguments", [[], ["fly"], ["run"], ["check"], ["show"]], ids=" ".join)
def test_wrong_command_lines_are_refused(arguments):
    done = surety(*arguments, check=False)
    assert done.returncode != 0 and done.stderr


def test_a_misspelt_command_has_a_nearest_one():
    assert surety("shwo", check=False).stderr == "there is no command `shwo`; did you mean `show`?\n"


@pytest.mark.parametrize("arguments", [[], ["--worst"]], ids=["paths", "worst"])
def test_no_path_of_the_bench_drops_what_it_should_not(arguments):
    """Each path passes its warm-up: every flow several times. Packets are held and dropped by RIO where a path says so, and nowhere else."""
    sh(SURETY, "bench", *arguments, "--flows", "1k", "--step", stdin=subprocess.DEVNULL, timeout=300)


def test_a_path_of_the_bench_is_measured():
    rows = surety("bench", "--flows", "1k", "--paths", "feed,anchor,everything", "--families", "4", "--repetitions", "1", "--json").stdout
    feed, anchor, everything = map(json.loads, rows.splitlines())
    assert (feed["path"], anchor["path"], everything["path"]) == ("feed", "anchor", "everything")
    assert 0 < feed["cycles_per_packet"] and anchor["ratio_to_anchor"] == 1 and everything["stages"]


MEASURED = "measures each path for seconds; test_no_path_of_the_bench_drops_what_it_should_not sends packets through the same ones"


@pytest.mark.long(MEASURED)
def test_every_path_of_the_bench_is_measured():
    """None waits for packets that its own router drops."""
    rows = surety("bench", "--flows", "1k", "--repetitions", "1", "--json").stdout.splitlines()
    measured = [(row["path"], row["family"]) for row in map(json.loads, rows)]
    both = [(path, family) for path in ("feed", "anchor", "forward", "csa", "everything", "core") for family in (4, 6)]
    tagged = [(path, 4) for path in ("access-up", "access-down", "flat", "below", "below-hosts", "flat-one", "below-one")]
    assert sorted(measured) == sorted(both + tagged)


@pytest.mark.long(MEASURED)
def test_bad_input_is_measured_and_bad():
    """Packets are held, dropped by RIO and made new flows where a row says so, and lost nowhere else."""
    rows = sh(SURETY, "bench", "--worst", "--flows", "1k", "--repetitions", "1", "--json", timeout=300).stdout.splitlines()
    measured = [(row["path"], row["family"]) for row in map(json.loads, rows)]
    both = [(path, family) for path in ("everything", "new", "new-made", "one-flow", "classes", "1500", "imix", "ports",
                                        "dropping", "held") for family in (4, 6)]
    assert sorted(measured) == sorted(both + [(path, 4) for path in ("access-up", "access-down", "options", "families")])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_are_right(example):
    done = surety("check", example)
    assert done.stdout.splitlines()[-1].startswith(f"{example}: ok: ")


def test_check_says_what_is_sold_in_both_directions():
    said = surety("check", ROOT / "config/examples/access.yaml").stdout
    heading = next(line for line in said.splitlines() if line.startswith("customer "))
    rows = {line.split()[0]: [line[at:].split("  ")[0] for at in map(heading.index, ("up", "down", "share", "queues"))]
            for line in said.splitlines() if line.startswith(("acme ", "homes "))}
    assert rows == {
        "acme": ["100 Mbit/s business (assured of up0)", "200 Mbit/s", "4/7 of access0 (1 Gbit/s)", "voice strict 5 Mbit/s, data"],
        "homes": ["256 kbit/s phone (voice of up0), 10 Mbit/s home (assured of up0)", "50 Mbit/s",
                  "1/4000 of street (400 Mbit/s), 2/7 of access0 (1 Gbit/s)", "voice strict 5 Mbit/s, data"]}
    assert re.search(r":16:\d+: warning: oversubscribed by a factor of 500: .* group `street` ", said)


def test_several_files_at_once():
    assert len([line for line in surety("check", *EXAMPLES).stdout.splitlines() if ": ok: " in line]) == len(EXAMPLES)


def test_errors_have_their_place_and_a_suggestion(directory):
    broken = directory / "broken.yaml"
    broken.write_text("version: 1\nports:\n  p0: {device: null, trusst: core}\nroutes:\n  - {to: 10.0.0.0/33, via: 10.1.0.1}\n")
    done = surety("check", broken, check=False)
    assert done.returncode == 1
    places = re.findall(rf"^{re.escape(str(broken))}:(\d+):(\d+): error: (.*)", done.stdout, re.M)
    assert [(line, column) for line, column, _ in places] == [("3", "22"), ("5", "10")]
    assert "did you mean `trust`?" in places[0][2]
    assert "trusst: core" in done.stdout and "^" in done.stdout
    assert done.stdout.splitlines()[-1] == f"{broken}: 2 errors"


def test_one_wrong_file_is_enough(directory):
    (directory / "b.yaml").write_text("version: 2\n")
    assert surety("check", EXAMPLES[0], directory / "b.yaml", check=False).returncode == 1


@pytest.mark.parametrize("ports, more, says", [
    ("p0: {device: af_packet lo}", "workers: [1023]\n", "workers: core 1023 cannot be used here"),
    ("p0: {device: af_xdp lo, mtu: 9000}", "", "port p0: in a router with af_xdp ports the mtu is at most"),
    ("p0: {device: af_packet lo}", "metrics: {password_file: none}\n", "none:1:1: error: cannot be read"),
    ("p0: {device: af_packet lo}", "metrics: {password_file: open}\n", "may read"),
    ("p0: {device: af_packet lo}", 'metrics: {listen: "192.0.2.1:9464", password_file: ours}\n', "metrics: no interface has the address of 192.0.2.1:9464"),
    ("p0: {device: af_packet lo, worker: 900}", "", "port p0: core 900 is not a worker; the workers' cores are "),
    ("p0: {device: af_packet lo}", "dpdk: {hugepages: on, memory: 900 GB}\n", " are needed; `echo "),
    ("p0: {device: pcap rx=gone.pcap}", "", "port p0: no such file: "),
    ("p0: {device: pcap tx=gone/out.pcap}", "", "port p0: there is no directory "),
    ("p0: {device: af_packet lo}", "signalling: {mode: observe, key_file: others}\n", "others: no key to sign the signals of this core router"),
], ids=["core", "mtu", "no password file", "open password file", "foreign address", "core of a port", "hugepages", "pcap file", "pcap directory", "no key"])
def test_check_refuses_what_run_would(directory, namespace, ports, more, says):
    """In a namespace of its own: `lo` is a port until `run` refuses the rest."""
    other_key = "routers: {192.0.2.9: [{id: 1, key: 00112233445566778899aabbccddeeff}]}\n"
    for name, text, mode in (("open", "operator:secret\n", 0o644), ("ours", "operator:secret\n", 0o600), ("others", other_key, 0o600)):
        (directory / name).write_text(text)
        (directory / name).chmod(mode)
    file = directory / "here.yaml"
    head = f"version: 1\nrouter: {{name: refused-{os.getpid()}, id: 192.0.2.1, role: core}}\nports: "  # several of these run at a time
    file.write_text(f"{head}{{{ports}}}\n{more}")
    for command in ("check", "run"):
        done = namespace.run("env", f"SURETY_STATE={directory}", "timeout", "20", SURETY, command, file, check=False)
        assert done.returncode == 1 and says in done.stdout + done.stderr, (command, done.stdout, done.stderr)
        assert "\\n" not in done.stdout + done.stderr, done.stderr
    assert namespace.run(SURETY, "check", file, check=False).stdout.splitlines()[-1] == f"{file}: `surety run` refuses it on this machine"
    for other in (f"{ports}, p1: {{device: af_packet elsewhere0}}", "p0: {device: null}"):
        file.write_text(f"{head}{{{other}}}\n{more}")
        assert namespace.run(SURETY, "check", file).stdout.splitlines()[-1].startswith(f"{file}: ok: "), "nothing says that it is for this machine"


def test_check_leaves_out_what_only_root_may_know(directory):
    (directory / "password").write_text("operator:secret\n")
    (directory / "password").chmod(0o600)
    file = directory / "here.yaml"
    file.write_text("version: 1\nports: {p0: {device: af_packet lo, addresses: [198.51.100.7/24]}}\n"
                    'metrics: {listen: "198.51.100.7:9464", password_file: password}\n')
    directory.chmod(0o755)
    file.chmod(0o644)
    for user in ("root", "nobody"):
        assert sh("setpriv", "--reuid", user, "--clear-groups", SURETY, "check", file).stdout.splitlines()[-1].startswith(f"{file}: ok: ")


def test_a_file_that_is_not_there():
    for command in ("check", "run"):
        done = surety(command, "/nonexistent/x.yaml", check=False)
        assert done.returncode == 1 and "/nonexistent/x.yaml" in done.stdout + done.stderr


# --- surety run: what stops it from starting ---

def refusal(namespace, yaml, **options):
    """The one sentence that a router which cannot start prints."""
    status, text = Router(namespace, yaml, **options).fails()
    sentences = [line for line in text.splitlines() if not re.search(r" surety: (notice|info|warning): ", line)]
    assert status == 1, text
    assert len(sentences) == 1 and " surety: error: " in sentences[0], text
    return sentences[0]


def interfaces(namespace):
    """What `ip` shows of the interfaces: addresses, XDP programs, devices."""
    rows = json.loads(namespace.run("ip", "-json", "address").stdout)
    links = json.loads(namespace.run("ip", "-json", "-details", "link").stdout)
    return {row["ifname"]: ([(a["local"], a["prefixlen"]) for a in row["addr_info"] if a.get("scope") == "global"],
                            "xdp" in next(link for link in links if link["ifname"] == row["ifname"]))
            for row in rows}


BARE = {"lo": ([], False), "lan0": ([], False), "wan0": ([], False)}


def test_configuration_errors_are_printed_and_nothing_starts(namespace):
    status, text = Router(namespace, "ports:\n  p0: {device: nul}\n").fails()
    assert status == 1
    assert re.search(r"router\.yaml:4:\d+: error: .*did you mean `null`", text)


def test_vhost_side_is_missing(namespace):
    assert "start the vhost side first" in refusal(namespace, "ports:\n  p0: {device: virtio-user /run/v.sock}\n")


def test_missing_capture(namespace):
    assert "no such file: /nonexistent.pcap" in refusal(namespace, "ports:\n  p0: {device: pcap rx=/nonexistent.pcap}\n")


def test_without_root(lab, directory):
    """As nobody, who can read program and file."""
    program = directory / "surety"
    shutil.copy(SURETY, program)
    config = directory / "router.yaml"
    config.write_text(f"version: 1\n{ports()}")
    directory.chmod(0o755)
    done = lab.router.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "run", config, check=False)
    assert done.returncode == 1
    assert re.fullmatch(r"\S+Z surety: error: .*need root.*`sudo surety run .*`\n", done.stderr)
    assert interfaces(lab.router) == BARE


def test_metrics_port_taken(lab):
    with lab.router.socket(socket.AF_INET, socket.SOCK_STREAM) as other:
        other.bind(("127.0.0.1", 9464))
        other.listen()
        sentence = refusal(lab.router, ports())
    assert "127.0.0.1:9464 is taken" in sentence and "metrics: {listen: ...}" in sentence
    assert interfaces(lab.router) == BARE


def test_name_taken(namespace):
    with Router(namespace, NULL_PORTS) as first:
        sentence = refusal(namespace, NULL_PORTS + 'metrics: {listen: "127.0.0.1:9465"}\n', name=first.name)
        assert f"`{first.name}` runs already (process {first.process.pid})" in sentence and "router: {name: ...}" in sentence


def test_interface_taken(lab):
    with Router(lab.router, ports()) as first:
        sentence = refusal(lab.router, ports() + 'metrics: {listen: "127.0.0.1:9465"}\n')
        assert f"another router (process {first.process.pid}) has interface `lan0`" in sentence


def test_a_router_that_was_killed_can_be_started_again(lab):
    """Its XDP programs are still attached then, and its addresses still given."""
    first = Router(lab.router, ports())
    first.__enter__()
    first.process.kill()
    first.process.wait()
    assert interfaces(lab.router)["lan0"][1]
    with Router(lab.router, ports()):
        lab.meet()
    for port, addresses in (("lan0", LAN), ("wan0", WAN)):
        shown = lab.router.ip("address", "show", "dev", port).stdout
        assert not any(address in shown for address in addresses), "the second router knows them as a router's, and takes them back"
    assert interfaces(lab.router) == BARE


def test_hugepages_demanded_where_there_are_too_few(namespace):
    """More memory than any machine has in them."""
    sentence = refusal(namespace, NULL_PORTS + "dpdk: {hugepages: on, memory: 900 GB}\n")
    assert re.search(r"`echo \d+ > /proc/sys/vm/nr_hugepages`", sentence) and "hugepages: off" in sentence


FREE = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")


class Promised:
    """A namespace in which more hugepages are said to be free than there are: others have reserved them, or a limit forbids them."""

    def __init__(self, namespace, directory):
        self._namespace, self._free = namespace, directory / "free"
        self._free.write_text("100000\n")

    def command(self, *words):
        return self._namespace.command("unshare", "--mount", "sh", "-c", f'mount --bind $0 {FREE} && exec "$@"', self._free, *words)

    def __getattr__(self, name):
        return getattr(self._namespace, name)


def test_hugepages_that_are_free_and_cannot_be_had(namespace, tmp_path):
    sentence = refusal(Promised(namespace, tmp_path), NULL_PORTS + "dpdk: {hugepages: on, memory: 190 GB}\n")
    assert "100000 hugepages of 2 MB are free, but this process cannot get the" in sentence and "hugepages: off" in sentence


@pytest.mark.skipif(FREE.exists() and int(FREE.read_text()) >= 750, reason="so many hugepages are really free here")
def test_a_router_does_without_hugepages_that_cannot_be_had(namespace, tmp_path):
    with Router(Promised(namespace, tmp_path), NULL_PORTS + "dpdk: {memory: 1500 MB, max_routes: 1024}\n") as router:
        assert "running without hugepages" in router.stderr() and "cannot get" in router.stderr()


def test_core_that_is_not_there(namespace):
    sentence = refusal(namespace, NULL_PORTS + "workers: [1000]\n")
    assert "core 1000 cannot be used" in sentence and "may use" in sentence


# --- surety run: what it does and leaves ---

@pytest.mark.parametrize("device", ["af_xdp", "af_packet"])
def test_interfaces_are_as_before_after_the_end(lab, device):
    lab.router.ip("link", "set", "lan0", "down")
    with Router(lab.router, ports(device)) as router:
        given = interfaces(lab.router)
        for port, addresses in (("lan0", LAN), ("wan0", WAN)):
            assert [f"{a}/{length}" for a, length in given[port][0]] == addresses
            assert given[port][1] == (device == "af_xdp")
        taps = {f"surety-out{json.loads(lab.router.ip('-json', 'link', 'show', port).stdout)[0]['ifindex']}" for port in ("lan0", "wan0")}
        assert set(given) == {"lo", "lan0", "wan0", f"punt-{router.name}"[:15], *taps}
    assert interfaces(lab.router) == BARE


def test_addresses_that_were_there_before_stay(lab):
    lab.router.add_address("lan0", "10.1.0.254/24")
    with Router(lab.router, ports()):
        assert ("10.1.0.254", 24) in interfaces(lab.router)["lan0"][0]
    assert interfaces(lab.router)["lan0"] == ([("10.1.0.254", 24)], False)
    lab.router.ip("address", "del", "10.1.0.254/24", "dev", "lan0")


def test_addresses_are_not_given_where_the_configuration_says_so(lab):
    with Router(lab.router, ports() + "kernel: {addresses: off}\n"):
        assert interfaces(lab.router)["lan0"] == ([], True)


def test_sigterm_under_load_drains_and_ends_in_time(lab):
    ended = threading.Event()

    def load():
        with UdpSource(lab.a, "10.2.0.1", 9) as source:
            while not ended.is_set():
                source.send(bytes(1000))

    with Router(lab.router, ports(wan="shape: 10 Mbit/s")) as router:
        sender = threading.Thread(target=load, daemon=True)
        sender.start()
        try:
            router.until(lambda m: m.value("surety_port_queued_packets", port="wan0") > 50)
            router.process.send_signal(signal.SIGTERM)
            ends_within(router.process, 5)
            assert router.process.wait() == 0
        finally:
            ended.set()
            sender.join()
    assert interfaces(lab.router) == BARE


def test_sigint_ends_it_as_well(namespace):
    with Router(namespace, NULL_PORTS) as router:
        router.process.send_signal(signal.SIGINT)
        assert router.process.wait(STOP) == 0


def test_two_routers_side_by_side(namespace):
    with Router(namespace, NULL_PORTS) as first:
        with Router(namespace, NULL_PORTS + "metrics: {listen: off}\n", name=f"{first.name}b") as second:
            for router in (first, second):
                assert json.loads(router.show("router", "--json").stdout)[0]["name"] == router.name
            done = sh(SURETY, "show", "router", check=False)
            assert done.returncode == 1 and "choose one of" in done.stderr and first.name in done.stderr


# --- surety show ---

RICH = ports(wan="shape: 10 Mbit/s, queues: uplink") + """
queues:
  uplink:
    - {name: voice, dscp: [EF], priority: strict, rate: 2 Mbit/s}
    - {name: assured, dscp: {in: [AF11], out: [BE]}, rio: {in: {min: 70, max: 120, pmax: 0.01}, out: {min: 10, max: 60, pmax: 0.2}}}
services:
  silver: {conditioner: csa, alpha: {max: 0.4}, rate: 1 Mbit/s, in_bucket: 10 packets, out_bucket: 1 packets, mark: {in: AF11, out: BE}}
classify:
  - {match: {port: lan0}, service: silver, per: flow}
aggregates:
  up: {port: wan0, queue: assured, rate: 8 Mbit/s}
metrics: {listen: "127.0.0.1:9464", top_flows: 5}
"""
TABLES = {
    "router": {"name", "uptime_seconds", "mempool_available"},
    "ports": {"name", "device", "rx_packets", "tx_packets", "punt_reasons"},
    "queues": {"port", "name", "in", "out", "sojourn_counts"},
    "services": {"name", "conditioner", "committed_bytes_per_second", "flows", "contracts"},
    "flows": {"source", "destination", "protocol", "service", "in_bytes"},
    "drops": {"port", "stage", "reason", "group", "packets", "help"},
    "exceptions": {"port", "way", "result", "frames", "help"},
    "aggregates": {"name", "port", "queue", "tpr_bytes_per_second"},
    "domains": {"name", "alpha_ratio"},
    "workers": {"core", "flows", "busy_cycles", "turns", "owns", "reads"},
    "stages": {"stage", "cycles", "packets"},
}


@pytest.fixture(scope="module")
def rich(lab):
    with Router(lab.router, RICH) as router:
        with UdpSource(lab.a, "10.2.0.1", 9) as source:
            def flow_is_shown(m):
                source.send(bytes(100))
                return m.select("surety_top_flow_bytes")
            router.until(flow_is_shown)
        yield router


@pytest.mark.parametrize("what", TABLES)
def test_show_as_json(rich, what):
    rows = json.loads(rich.show(what, "--json").stdout)
    assert rows and all(TABLES[what] <= set(row) for row in rows)


@pytest.mark.parametrize("what", TABLES)
def test_show_as_text(rich, what):
    rows = json.loads(rich.show(what, "--json").stdout)
    lines = rich.show(what, *(["--all"] if what in ("drops", "exceptions") else [])).stdout.splitlines()
    assert lines[0] == lines[0].upper()
    assert len(lines) == 1 + len(rows) * (2 if what == "queues" else 1)


def test_show_signalling(rich):
    rows = json.loads(rich.show("signalling", "--json").stdout)
    assert [row for row in rows if row["kind"] == "mode"] == [{"kind": "mode", "mode": "off"}]
    received = {row["result"]: row["signals"] for row in rows if row["kind"] == "received"}
    assert set(received) == {labels["result"] for labels, _ in
                             rich.metrics().select("surety_csa_signals_total", direction="received")}
    text = rich.show("signalling").stdout
    assert text.startswith("Mode: off\n") and "forged" not in text
    assert "forged" in rich.show("signalling", "--all").stdout


def test_show_who_works_for_what(rich):
    workers = {row["core"]: row for row in json.loads(rich.show("workers", "--json").stdout)}
    for port in json.loads(rich.show("ports", "--json").stdout):
        name, readers = port["name"], port["rx_cores"]
        assert name in workers[port["owner_core"]]["owns"].split(", ")
        for queue, core in enumerate(readers):
            assert (f"{name}:{queue}" if len(readers) > 1 else name) in workers[core]["reads"].split(", ")
        assert port["spread"] in ({"one"} if len(workers) == 1 else {"one", "queues", "dispatch"})


def test_show_agrees_with_metrics(rich):
    m = rich.settle()
    shown = {row["name"]: row for row in json.loads(rich.show("ports", "--json").stdout)}
    for port in ("lan0", "wan0"):
        assert shown[port]["rx_packets"] == m.value("surety_port_rx_packets_total", port=port)
        assert shown[port]["forwarded"] == m.value("surety_port_forwarded_packets_total", port=port)
    for domain in json.loads(rich.show("domains", "--json").stdout):
        assert domain["alpha_ratio"] == pytest.approx(m.value("surety_csa_alpha_ratio", domain=domain["name"]), abs=1e-9)


def test_show_what_does_not_exist(rich):
    done = rich.show("weather", check=False)
    assert (done.returncode, done.stdout) == (2, "") and "choose one of" in done.stderr and "ports" in done.stderr


def test_show_without_a_router(root):
    done = sh(SURETY, "show", "ports", "--name", "nobody", check=False)
    assert (done.returncode, done.stderr) == (
        1, "surety show: no router called nobody is running: start it with `surety run`\n")


def test_whoever_reads_its_log_may_go_away():
    with Pair() as pair, subprocess.Popen(
            pair.router.command(SURETY, "run", (router := Router(pair.router, ports())).path), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        process.stderr.close()
        def ready():
            """the router answers, or has ended"""
            return process.poll() is not None or router.show("router", check=False).returncode == 0
        wait_for(ready, START)
        process.send_signal(signal.SIGHUP)  # which is logged
        def reloaded():
            """the router has read its configuration again"""
            with contextlib.suppress(OSError):  # /metrics listens a moment after the router answers
                return scrape(pair.router).value("surety_config_reloads_total") == 1
        try:
            wait_for(reloaded)
        except AssertionError:
            process.kill()
            raise
        assert process.poll() is None
        process.terminate()
        assert process.wait(STOP) == 0
