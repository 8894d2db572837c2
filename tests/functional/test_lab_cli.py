# SPDX-License-Identifier: BSD-3-Clause
"""The command line of `surety-lab`: what it prints where, what it refuses, and how it ends."""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from namespaces import sh
from router import ROOT

LAB = pathlib.Path(os.environ.get("SURETY_LAB", ROOT / "build/release/bin/surety-lab"))
pytestmark = pytest.mark.skipif(not LAB.exists(), reason=f"no {LAB}; build it, or name it with SURETY_LAB=")

SCENARIO = """version: 1
name: two-flows
duration: 20 s
seed: 5
routers:
  edge:
    ports: {a: {trust: customer}, b: {trust: customer}, up: {trust: core, shape: 1 Mbit/s, queues: q}}
    queues:
      q:
        - name: assured
          dscp: {in: [AF11], out: [BE]}
          count: packets
          rio: {in: {min: 20, max: 40, pmax: 0.02}, out: {min: 5, max: 20, pmax: 0.1}}
    services:
      silver: {conditioner: csa, alpha: {max: 0.4}, rate: 400 kbit/s, in_bucket: 10 packets, out_bucket: 1 packets, mark: {in: AF11, out: BE}}
    classify:
      - {match: {port: a}, service: silver, per: flow}
      - {match: {port: b}, service: silver, per: flow}
    aggregates:
      up: {port: up, queue: assured, rate: 900 kbit/s}
hosts: [h1, h2, sink]
links:
  - {between: [h1, edge.a], rate: 10 Mbit/s, delay: 10 ms}
  - {between: [h2, edge.b], rate: 10 Mbit/s, delay: 50 ms, loss: 0.01}
  - {between: [edge.up, sink], rate: 10 Mbit/s, delay: 2 ms}
senders:
  - {name: tcp, host: h1, to: sink, protocol: newreno, target: 400 kbit/s, packet: 1000 B, start: 0 s - 1 s}
  - {name: cbr, host: h2, to: sink, protocol: udp, rate: 800 kbit/s, packet: 1000 B}
"""
RUN_KEYS = ["scenario", "seed", "duration_s", "events", "flows", "queues", "domains", "aggregates"]
ROW_KEYS = {
    "flows": ["name", "protocol", "target_bps", "committed_bps", "throughput_bps", "goodput_bps", "sent_packets",
              "received_packets", "lost_packets", "in_share", "in_throughput_bps", "ros", "time_to_target_s", "rtt_mean_s",
              "one_way_delay_mean_s", "buffer_drops"],
    "queues": ["router", "port", "queue", "in", "out", "average_in_mean", "average_total_mean", "utilisation"],
    "domains": ["router", "port", "queue", "alpha_mean", "alpha_min", "alpha_last"],
    "aggregates": ["name", "tpr_bps", "lambda_in_bps", "lambda_out_bps", "remarked", "dropped"],
}
PRECEDENCE_KEYS = ["arrivals", "early_drops", "forced_drops", "overflow_drops", "marked"]
SPEED = r"surety-lab: (\d+) runs? in \d+\.\d{3} s: \d+\.\d\d million events/s, \d+\.\d\d million hops/s\n"


@pytest.fixture(scope="module")
def directory():
    with tempfile.TemporaryDirectory(prefix="sf-") as name:
        path = pathlib.Path(name)
        path.chmod(0o755)
        (path / "two.yaml").write_text(SCENARIO)
        yield path


@pytest.fixture(scope="module")
def scenario(directory):
    return directory / "two.yaml"


def lab(*arguments, status=0, **options):
    done = sh(LAB, *arguments, check=False, timeout=120, **options)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def lines(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


# --- usage ---

def test_version():
    version = re.search(r"project\(surety VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    assert lab("--version").stdout == f"{version}\n"


def test_help_names_every_command():
    text = lab("--help").stdout
    for command in ("run", "check", "papers", "live"):
        assert re.search(rf"^  {command} ", text, re.M)


def test_schema_is_the_one_in_the_source():
    assert lab("--schema").stdout == sh(sys.executable, ROOT / "tests/lib/schemas.py", "--scenario").stdout


@pytest.mark.parametrize("arguments", [
    [], ["fly"], ["run"], ["check"], ["live"], ["run", "x.yaml", "--seed", "-1"], ["run", "x.yaml", "--seeds", "0"],
    ["run", "x.yaml", "--seed", "1", "--seeds", "2"], ["run", "x.yaml", "--seeds", "3-2"], ["run", "x.yaml", "--threads", "0"], ["run", "x.yaml", "--threads", "65"],
    ["run", "x.yaml", "--set", "a"], ["run", "x.yaml", "--sweep", "a=1,,2"], ["run", "x.yaml", "--sweep", "a={1,2"],
    ["run", "x.yaml", "--sweep", "a=1", "--sweep", "a=2"], ["run", "x.yaml", "--pcap", "h1 edge.a"],
    ["run", "x.yaml", "--pcap", "h1 edge.a", "f", "--seeds", "2"], ["run", "x.yaml", "--pcap", "l", "f", "--sweep", "a=1"],
    ["papers", "--only", "everything"]], ids=" ".join)
def test_wrong_command_lines_are_refused(arguments):
    done = lab(*arguments, status=2)
    assert done.stdout == "" and done.stderr


def test_a_setting_that_is_none_is_shown_one():
    assert "`two.yaml` is not key=value" in lab("run", "--set", "two.yaml", "--json", status=2).stderr


# --- errors of scenarios ---

def test_a_file_that_is_not_there():
    for command in ("check", "run"):
        done = lab(command, "/nonexistent/x.yaml", status=1)
        assert "/nonexistent/x.yaml" in done.stdout + done.stderr


def test_all_errors_are_printed_with_their_place(directory):
    broken = directory / "broken.yaml"
    broken.write_text(SCENARIO.replace("edge.a]", "egde.a]").replace("duration: 20 s", "duration: 20"))
    place = re.compile(rf"^{re.escape(str(broken))}:(\d+):\d+: error: ", re.M)
    wanted = [str(n) for n, line in enumerate(broken.read_text().splitlines(), 1) if "egde.a" in line or "duration:" in line]
    run = lab("run", broken, status=1)
    assert run.stdout == "" and set(wanted) <= set(place.findall(run.stderr))
    assert "did you mean `edge.a`" in run.stderr
    checked = lab("check", broken, status=1)
    assert place.findall(checked.stdout) == place.findall(run.stderr)
    assert re.fullmatch(rf"{re.escape(str(broken))}: [23] errors", checked.stdout.splitlines()[-1])


def test_what_cannot_be_reached_is_an_error(directory):
    split = directory / "split.yaml"
    split.write_text("version: 1\nduration: 1 s\nhosts: [a, b, c, d]\nlinks: [{between: [a, b]}, {between: [c, d]}]\n"
                     "senders: [{name: f, host: a, to: c, protocol: udp, rate: 1 Mbit/s}]\n")
    sentence = lab("run", split, status=1).stderr
    assert re.fullmatch(r"surety-lab: [^\n]+\n", sentence)
    checked = lab("check", split, status=1).stdout
    assert checked == f"{split}: error: {sentence.removeprefix('surety-lab: ').rstrip()}\n{split}: 1 error\n"


def test_check_sums_up(scenario):
    assert lab("check", scenario).stdout == f"{scenario}: ok: 1 router, 3 hosts, 3 links, 2 senders\n"


def test_one_wrong_file_is_enough(directory, scenario):
    (directory / "wrong.yaml").write_text("version: 2\n")
    done = lab("check", scenario, directory / "wrong.yaml", status=1)
    assert f"{scenario}: ok: " in done.stdout


@pytest.mark.parametrize("setting, said", [("senders.tpc.target=1 Mbit/s", "did you mean `tcp`"), ("senders.tcp.target=much", "much"),
                                           ("durration=5 s", "did you mean `duration`")])
def test_a_wrong_setting(scenario, setting, said):
    for option in ("--set", "--sweep"):
        done = lab("run", scenario, option, setting, status=1)
        assert done.stdout == "" and setting.partition("=")[0] in done.stderr and said in done.stderr


def test_a_link_that_does_not_exist(directory, scenario):
    done = lab("run", scenario, "--pcap", "h3 edge.a", directory / "x.pcapng", status=1)
    assert done.stdout == "" and done.stderr == "surety-lab: no link `h3 edge.a`; did you mean `h1 edge.a`?\n"


@pytest.mark.parametrize("option", [["--report", "/proc/x"], ["--pcap", "h1 edge.a", "/proc/x.pcapng"]], ids=lambda o: o[0])
def test_what_cannot_be_written_is_said_before_the_run(scenario, option):
    done = lab("run", scenario, "--json", *option, status=1)
    assert done.stdout == "" and re.fullmatch(r"surety-lab: [^\n]*/proc/x[^\n]*\n", done.stderr)


def test_standard_output_that_takes_no_more(scenario):
    with open("/dev/full", "w") as full:
        done = subprocess.run([LAB, "run", scenario], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and done.stderr.endswith("surety-lab: cannot write to standard output\n")


# --- results ---

def test_one_run_is_one_line_of_the_keys_that_are_promised(scenario):
    [run] = lines(lab("run", scenario, "--json"))
    assert list(run)[:len(RUN_KEYS)] == RUN_KEYS
    assert (run["scenario"], run["seed"], run["duration_s"]) == ("two-flows", 5, 20)
    for table, keys in ROW_KEYS.items():
        assert run[table], table
        for row in run[table]:
            assert list(row)[:len(keys)] == keys
    for queue in run["queues"]:
        assert list(queue["in"]) == PRECEDENCE_KEYS and list(queue["out"]) == PRECEDENCE_KEYS
    assert [flow["name"] for flow in run["flows"]] == ["tcp", "cbr"]
    assert run["flows"][0]["target_bps"] == 400_000 and run["flows"][1]["target_bps"] == 0
    assert "set" not in run and "interrupted" not in run


def test_seeds(scenario):
    assert [r["seed"] for r in lines(lab("run", scenario, "--json", "--seed", "7"))] == [7]
    *runs, total = lines(lab("run", scenario, "--json", "--seeds", "3"))
    assert [r["seed"] for r in runs] == [1, 2, 3]
    assert len({json.dumps(r["flows"]) for r in runs}) == 3
    assert (total["scenario"], total["seeds"]) == ("two-flows", 3)
    throughputs = [r["flows"][0]["throughput_bps"] for r in runs]
    shown = total["statistics"]["flows"][0]["throughput_bps"]
    assert (shown["min"], shown["max"]) == (min(throughputs), max(throughputs))
    assert shown["mean"] == pytest.approx(sum(throughputs) / 3, abs=1)
    assert shown["sd"] > 0


def test_a_seed_of_several_is_the_same_alone(scenario):
    several = lab("run", scenario, "--json", "--seeds", "3").stdout.splitlines()
    assert lab("run", scenario, "--json", "--seed", "2").stdout.splitlines() == several[1:2]
    assert lab("run", scenario, "--json", "--seeds", "2-3").stdout.splitlines()[:2] == several[1:3]


def test_series_are_those_of_the_first_seed(scenario):
    first, second, _ = lines(lab("run", scenario, "--json", "--seeds", "2", "--series"))
    [flow, _], [queue] = first["flows"], first["queues"]
    assert first["sample_s"] == 1 and len(flow["throughput_series"]) == len(queue["average_total_series"]) == 20
    assert sum(flow["throughput_series"]) / 20 == pytest.approx(flow["throughput_bps"], rel=0.01)
    assert "sample_s" not in second and "throughput_series" not in second["flows"][0]


def test_delivered_is_what_the_application_got_as_packets(scenario):
    [run] = lines(lab("run", scenario, "--json"))
    tcp, udp = run["flows"]
    assert tcp["delivered_bps"] == pytest.approx(tcp["goodput_bps"] * 1000 / 948, abs=2) and tcp["delivered_bps"] <= tcp["throughput_bps"]
    assert udp["delivered_bps"] == udp["throughput_bps"]


def test_settings_reach_the_run(scenario):
    [run] = lines(lab("run", scenario, "--json", "--set", "duration=4 s", "name=other", "--set", "senders.tcp.target=1 Mbit/s"))
    assert (run["scenario"], run["duration_s"], run["flows"][0]["target_bps"]) == ("other", 4, 1_000_000)
    assert "set" not in run


def test_sweeps_make_every_combination(scenario):
    rio = "routers.edge.queues.q.assured.rio.out"
    done = lab("run", scenario, "--json", "--seeds", "2", "--set", "duration=2 s", "--sweep", "senders.cbr.rate=200 kbit/s, 1 Mbit/s",
               "--sweep", f"{rio}={{min: 5, max: 15, pmax: 0.1}},{{min: 1, max: 3, pmax: 1}}")
    rows = lines(done)
    settings = [row["set"] for row in rows]
    assert list(settings[0]) == ["senders.cbr.rate", rio]
    assert [s["senders.cbr.rate"] for s in settings] == 6 * ["200 kbit/s"] + 6 * ["1 Mbit/s"]
    assert [s[rio] for s in settings] == 2 * (3 * ["{min: 5, max: 15, pmax: 0.1}"] + 3 * ["{min: 1, max: 3, pmax: 1}"])
    assert [row.get("seed", "all") for row in rows] == 4 * [1, 2, "all"]
    sent = [row["flows"][1]["sent_packets"] for row in rows if row.get("seed") == 1]
    assert sent[0] == sent[1] and sent[2] == sent[3] == pytest.approx(5 * sent[0], rel=0.05)


def test_a_point_of_a_sweep_is_what_the_setting_makes(scenario):
    swept = lines(lab("run", scenario, "--json", "--sweep", "senders.cbr.rate=200 kbit/s,1 Mbit/s"))
    [alone] = lines(lab("run", scenario, "--json", "--set", "senders.cbr.rate=1 Mbit/s"))
    assert swept[1].pop("set") == {"senders.cbr.rate": "1 Mbit/s"}
    assert swept[1] == alone


def test_text_says_what_was_run_and_found(scenario):
    text = lab("run", scenario).stdout
    assert text.startswith("two-flows, 20 s, seed 5\n")
    for word in ("Flows", "tcp", "cbr", "Queues", "edge.up.assured", "Congestion domains", "Aggregates"):
        assert word in text
    several = lab("run", scenario, "--seeds", "3", "--sweep", "senders.cbr.rate=1 Mbit/s,200 kbit/s").stdout
    first, second = several.split("\nsenders.cbr.rate=200 kbit/s\n")
    assert first.startswith("senders.cbr.rate=1 Mbit/s\ntwo-flows, ") and second.startswith("two-flows, ")


def test_report(directory, scenario):
    reports = directory / "new/reports"
    lab("run", scenario, "--report", reports)
    assert '"title":"two-flows"' in (reports / "data.js").read_text() and {"index.html", "flows.csv"} <= {f.name for f in reports.iterdir()}
    lab("run", scenario, "--report", reports, "--sweep", "senders.cbr.rate=1 Mbit/s,200 kbit/s")
    for point, rate in (("1", "1 Mbit/s"), ("2", "200 kbit/s")):
        assert f"(senders.cbr.rate={rate})" in (reports / point / "data.js").read_text()


def test_pcap_changes_no_result(directory, scenario):
    capture = directory / "link.pcapng"
    assert lab("run", scenario, "--json", "--pcap", "edge.a h1", capture).stdout == lab("run", scenario, "--json").stdout
    assert capture.read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"


# --- the same everywhere ---

def test_output_does_not_depend_on_threads_or_time(scenario):
    options = ["run", scenario, "--json", "--seeds", "6", "--sweep", "senders.cbr.rate=200 kbit/s,1 Mbit/s"]
    first = lab(*options, "--threads", "1").stdout
    assert len(first.splitlines()) == 14
    assert lab(*options, "--threads", "2").stdout == first
    assert lab(*options, "--threads", "3").stdout == first
    assert lab(*options).stdout == first


def test_speed_is_on_standard_error_only(scenario):
    done = lab("run", scenario, "--seeds", "2")
    assert re.fullmatch(SPEED, done.stderr).group(1) == "2"
    assert "million" not in done.stdout
    assert re.fullmatch(SPEED, lab("run", scenario, "--json").stderr)


def test_output_does_not_depend_on_the_locale(scenario):
    plain = lab("run", scenario).stdout
    assert lab("run", scenario, env={**os.environ, "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}).stdout == plain


@pytest.fixture
def nobody(directory):
    """The program as an unprivileged user, who may read it and nothing else of ours."""
    program = directory / "surety-lab"
    shutil.copy(LAB, program)
    environment = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": "/run/user/0"}
    def run(*arguments):
        return sh("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, *arguments, env=environment, cwd="/", timeout=120)
    return run


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_needs_no_privileges_and_no_directory(scenario, nobody):
    done = nobody("run", scenario, "--json", "--seeds", "2")
    assert done.stdout == lab("run", scenario, "--json", "--seeds", "2").stdout
    assert re.fullmatch(SPEED, done.stderr)


def test_several_run_side_by_side_and_leave_nothing(directory, scenario):
    temporary = directory / "tmp"
    temporary.mkdir()
    running = [subprocess.Popen([LAB, "run", scenario, "--json", "--threads", "1"], env={**os.environ, "TMPDIR": str(temporary)},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    outputs = {process.communicate(timeout=120)[0] for process in running}
    assert [process.returncode for process in running] == 4 * [0]
    assert outputs == {lab("run", scenario, "--json").stdout}
    assert list(temporary.iterdir()) == []


# --- the end before the end ---

def started(scenario, *arguments, **streams):
    return subprocess.Popen([LAB, "run", scenario, "--set", "duration=1000 h", *arguments], text=True, **streams)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_what_is_done(scenario, number):
    """The second point never ends by itself."""
    process = subprocess.Popen([LAB, "run", scenario, "--json", "--threads", "1", "--sweep", "duration=1 s,1000 h"], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = json.loads(process.stdout.readline())
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert first["set"] == {"duration": "1 s"} and "interrupted" not in first
    for second in map(json.loads, out.splitlines()):  # none, when the signal was quicker than the start of the second run
        assert second["interrupted"] is True and 0 < second["duration_s"] < 3_600_000
        assert list(second)[0] == "scenario" and second["set"] == {"duration": "1000 h"}
    assert re.fullmatch(SPEED, err)


def test_text_of_an_interrupted_run(scenario):
    process = started(scenario, "--set", "name=endless", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until_it_computes(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130 and out.startswith("endless, ") and "tcp" in out and re.fullmatch(SPEED, err)


def test_interrupted_statistics_are_of_whole_runs(scenario):
    process = subprocess.Popen([LAB, "run", scenario, "--json", "--threads", "1", "--seeds", "100000"], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    done = [json.loads(process.stdout.readline()) for _ in range(3)]
    process.send_signal(signal.SIGINT)
    rest = process.stdout.readlines()  # communicate() would lose the lines that have been read ahead
    process.communicate(timeout=120)
    *runs, total = done + [json.loads(line) for line in rest]
    assert process.returncode == 130
    assert total["seeds"] == sum("interrupted" not in run for run in runs) >= 3


def until_it_computes(process):
    """Waits for a second of processor time: starting takes less."""
    end = time.monotonic() + 60
    while True:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        if int(fields[11]) + int(fields[12]) > os.sysconf("SC_CLK_TCK"):
            return
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)


def shown_on_terminal(process, terminal, pattern):
    """What the program writes to the terminal, until the pattern is in it or it ends."""
    text, end = "", time.monotonic() + 60
    while not re.search(pattern, text) and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                text += os.read(terminal, 4096).decode()
            except OSError:  # the other side is closed
                break
        elif process.poll() is not None:
            break
    return text


def test_progress_is_shown_on_a_terminal(scenario):
    ours, theirs = pty.openpty()
    process = started(scenario, "--json", stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    try:
        assert re.search(r"\[-{30}\] +0 %, .* left", shown_on_terminal(process, ours, r" left"))
        process.send_signal(signal.SIGINT)
        rest = shown_on_terminal(process, ours, r"hops/s\r\n")
        assert re.search(r"\r\x1b\[Ksurety-lab: 1 run in .*hops/s\r\n", rest)
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 130 and json.loads(out)["interrupted"] is True
    finally:
        process.kill()
        process.wait()
        os.close(ours)
