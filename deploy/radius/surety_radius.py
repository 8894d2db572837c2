#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""surety-radius [--settings FILE]: sessions that FreeRADIUS accounts become subscribers of a router.

FreeRADIUS stays the server. Its module `rest` posts each Accounting-Request, CoA-Request and Disconnect-Request here as JSON, on
loopback (freeradius/); an answer means that it is stored. Changes are collected for a moment and given to `surety subscribers import
--owner radius` as one list, which is idempotent: it says who is there, not what has happened. A session ends with its Stop, or when
nothing has been heard of it for `lost_after`."""
import argparse
import configparser
import contextlib
import dataclasses
import hashlib
import http.server
import ipaddress
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

REMEMBERED = 600  # seconds for which a session that has ended is known: what is repeated or late does not begin it again
MOST = 65_535  # sessions, as many as the router has interfaces for; and ended ones that are known
STATUS = {"1": "Start", "2": "Stop", "3": "Interim-Update", "7": "Accounting-On", "8": "Accounting-Off"}  # RFC 2866 5.1
SESSION = ("Acct-Session-Id", "Acct-Multi-Session-Id")
ADDRESSES = ("Framed-IP-Address", "Framed-IPv6-Address", "Framed-IPv6-Prefix", "Delegated-IPv6-Prefix")


class Settings:
    """FILE: sections [router] with `port` or `interface`, and `name`, `interval`, `lost_after` in seconds; [plans] by Filter-Id;
    [rates] by Mbit/s up/down; [users] by User-Name; [default] with `plan`."""

    def __init__(self, text):
        parsed = configparser.ConfigParser(delimiters=("=",), interpolation=None)
        parsed.optionxform = str
        parsed.read_string(text)
        router = parsed["router"]
        self.place = {key: router[key] for key in ("port", "interface") if key in router}
        if len(self.place) != 1:
            raise ValueError("[router] needs `port` or `interface`")
        self.name, self.interval = router.get("name"), router.getfloat("interval", 1.0)
        self.lost_after = router.getfloat("lost_after", 3600)
        self.listen = router.get("listen", "127.0.0.1:9466")
        self.state = pathlib.Path(router.get("state", "/var/lib/surety-radius/sessions.json"))
        self.plans = dict(parsed["plans"]) if "plans" in parsed else {}
        self.rates = {both(key, 1e6): plan for key, plan in parsed["rates"].items()} if "rates" in parsed else {}
        self.users = dict(parsed["users"]) if "users" in parsed else {}
        self.default = parsed.get("default", "plan", fallback=None)


def bits(text, unit):
    """`10M`, `512k`, or a number of units, in bit/s."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kKMG]?)", text.strip())
    if not found:
        raise ValueError(f"{text!r} is not a rate")
    return round(float(found[1]) * {"k": 1e3, "K": 1e3, "M": 1e6, "": unit, "G": 1e9}[found[2]])


def both(text, unit):
    """`up/down`, or one for both."""
    up, _, down = text.partition("/")
    return bits(up, unit), bits(down or up, unit)


def first(attributes, name):
    values = attributes.get(name, {}).get("value", [])
    return str(values[0]) if values else None


def bought(attributes, settings):
    """The plan that a request names; None: it names none that is known."""
    filter_id = first(attributes, "Filter-Id")
    if filter_id in settings.plans:
        return settings.plans[filter_id]
    up, down, mikrotik = (first(attributes, name) for name in ("WISPr-Bandwidth-Max-Up", "WISPr-Bandwidth-Max-Down", "Mikrotik-Rate-Limit"))
    with contextlib.suppress(ValueError, IndexError):
        if up and down:
            return settings.rates.get((int(up), int(down)))
        if mikrotik:  # rx/tx as the NAS sees it: from the subscriber, towards it; bursts and priority follow
            return settings.rates.get(both(mikrotik.split()[0], 1))
    return None


def stamp(attributes):
    """Event-Timestamp in seconds, by which an ID is used again, as an address of Kea is; 0: there is none."""
    value = first(attributes, "Event-Timestamp")
    return float(value) if value and re.fullmatch(r"\d+(\.\d+)?", value) else 0.0


def name_of(user):
    """A name that the router accepts. What has to be changed for that gets a part of its hash, so that no user has another one's contract."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}", user):
        return user
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", user)
    return f"u-{plain[:40]}-{hashlib.sha256(user.encode(errors='replace')).hexdigest()[:16]}"


def prefixes(attributes):
    found = []
    for name in ADDRESSES:
        for value in attributes.get(name, {}).get("value", []):
            try:
                network = ipaddress.ip_network(str(value), strict=False)
            except ValueError:
                continue
            if network.prefixlen and not network.is_unspecified:
                found.append(str(network))
    return found


@dataclasses.dataclass
class Session:
    user: str
    plan: str
    prefixes: list
    heard: float  # seconds since 1970
    at: float = 0.0  # Event-Timestamp of its last request; 0: it had none


class Sessions:
    """What is accounted, without a clock, files or sockets of its own."""

    def __init__(self, settings, sessions=None):
        self._settings = settings
        self._sessions = sessions or {}
        self._owners = {p: key for key, s in self._sessions.items() for p in s.prefixes}
        self._ended = {}
        self.refused = 0  # sessions beyond MOST

    def account(self, attributes, now):
        """True: the subscribers have changed, or may have."""
        nas = first(attributes, "NAS-Identifier") or first(attributes, "NAS-IP-Address") or ""
        key = "/".join([nas, *filter(None, (first(attributes, s) for s in SESSION))])
        status = first(attributes, "Acct-Status-Type")
        status = STATUS.get(status, status)
        if status in ("Accounting-On", "Accounting-Off"):  # the NAS has begun again
            return any([self._end(known, now) for known in list(self._sessions) if known.startswith(f"{nas}/")])
        if not first(attributes, "Acct-Session-Id"):
            return False
        at = stamp(attributes)
        if status == "Stop":
            begun_since = at and key in self._sessions and at < self._sessions[key].at
            return not begun_since and self._end(key, now, at)
        ended, known = self._ended.get(key), self._sessions.get(key)
        late = (ended and at <= ended[1]) or (known and at and at < known.at)
        if status not in ("Start", "Interim-Update") or late:
            return False
        self._ended.pop(key, None)
        return self._go_on(key, attributes, now)

    def _go_on(self, key, attributes, now):
        known = self._sessions.get(key)
        user = first(attributes, "User-Name") or (known.user if known else first(attributes, "Calling-Station-Id") or key)
        same = known is not None and known.user == user
        plan = bought(attributes, self._settings) or (known.plan if same else self._settings.users.get(user, self._settings.default))
        addresses = prefixes(attributes) or (known.prefixes if known else [])
        if plan is None:
            return False
        others = {self._owners.get(p, key) for p in addresses} - {key}
        if known is None and len(self._sessions) - len(others) >= MOST:
            self.refused += 1
            return False
        session = Session(user, plan, addresses, now, stamp(attributes))
        for other in others:
            self._end(other, now)  # its address has a new owner
        self._forget(key)
        self._sessions[key] = session
        self._owners.update(dict.fromkeys(addresses, key))
        return known is None or dataclasses.replace(known, heard=now, at=session.at) != session

    def _end(self, key, now, at=math.inf):
        """Also of a session whose Stop comes before its Start. `at`: later requests, by Event-Timestamp, begin it again."""
        before = self._ended.get(key, (now, 0.0))
        self._ended[key] = before[0], max(at, before[1])
        if len(self._ended) > MOST:
            del self._ended[next(iter(self._ended))]  # the one known for longest
        return self._forget(key)

    def _forget(self, key):
        gone = self._sessions.pop(key, None)
        for p in gone.prefixes if gone else []:
            self._owners.pop(p, None)
        return gone is not None

    def change(self, attributes):
        """CoA: another plan for a session or a user."""
        plan = bought(attributes, self._settings)
        changed = False
        for session in self._named(attributes) if plan else []:
            changed |= session.plan != plan
            session.plan = plan
        return changed

    def disconnect(self, attributes, now):
        gone = self._named(attributes)
        return any([self._end(key, now) for key, s in list(self._sessions.items()) if any(s is g for g in gone)])

    def _named(self, attributes):
        session, user = first(attributes, "Acct-Session-Id"), first(attributes, "User-Name")
        return [s for key, s in self._sessions.items()
                if (session is None or session in key.split("/")[1:]) and (user is None or s.user == user) and (session or user)]

    def expire(self, now):
        """Sessions whose Stop was lost."""
        for key in [k for k, (when, _) in self._ended.items() if now - when > REMEMBERED]:
            del self._ended[key]
        lost = [(key, s.at) for key, s in self._sessions.items() if now - s.heard > self._settings.lost_after]
        return any([self._end(key, now, at) for key, at in lost])

    def subscribers(self):
        """By name; several sessions of a user are one subscriber, with the plan that was named last."""
        found = {}
        for s in sorted(self._sessions.values(), key=lambda s: s.heard):
            entry = found.setdefault(name_of(s.user), {"plan": s.plan, **self._settings.place, "prefixes": []})
            entry["plan"] = s.plan
            entry["prefixes"] += [p for p in s.prefixes if p not in entry["prefixes"]]
        return {name: entry for name, entry in found.items() if entry["prefixes"]}

    def stored(self):
        return {key: dataclasses.asdict(s) for key, s in self._sessions.items()}


class Router:
    """Gives the router the list, one change at a time, and without the subscribers that it refuses."""

    def __init__(self, settings, surety="surety"):
        self._command = [surety, "subscribers", "import", "-", "--owner", "radius", "--allow-removals", "100", "--why", "RADIUS accounting"]
        self._command += ["--name", settings.name] if settings.name else []
        self._given = {}

    def _import(self, subscribers):
        done = subprocess.run(self._command, input=json.dumps(subscribers), capture_output=True, text=True, check=False)
        return done.returncode == 0, done.stderr

    def give(self, subscribers):
        """Whether it took all of them, or all that it ever will."""
        taken, why = self._import(subscribers)
        if taken:
            self._given = dict(subscribers)
            return True
        changed = [name for name, entry in subscribers.items() if self._given.get(name) != entry]
        if not changed or "error:" not in why:
            print(why.strip(), file=sys.stderr, flush=True)
            return False  # another change is in progress, or the router's own files are wrong
        kept = {name: entry for name, entry in subscribers.items() if name not in changed}
        self._add(kept, {name: subscribers[name] for name in changed})
        return True

    def _add(self, kept, changed):
        """Halves that are refused are tried again by halves; `kept` grows by what is taken."""
        taken, why = self._import({**kept, **changed})
        if taken:
            kept.update(changed)
            self._given = dict(kept)
        elif len(changed) == 1:
            print(f"refused: {next(iter(changed))}: {why.strip()}", file=sys.stderr, flush=True)
        else:
            names = list(changed)
            for half in (names[:len(names) // 2], names[len(names) // 2:]):
                self._add(kept, {name: changed[name] for name in half})


class Adapter:
    def __init__(self, settings, router):
        self._settings, self._router = settings, router
        self._lock, self._news = threading.Lock(), threading.Event()
        settings.state.parent.mkdir(parents=True, exist_ok=True)
        self._journals = [settings.state.with_suffix(suffix) for suffix in (".older", ".journal")]
        stored = json.loads(settings.state.read_text()) if settings.state.exists() else {}
        self._sessions = Sessions(settings, {key: Session(**value) for key, value in stored.items()})
        for journal in self._journals:
            for line in journal.read_text().splitlines() if journal.exists() else []:
                with contextlib.suppress(ValueError):  # the last one, of which a part was written
                    self._take(*json.loads(line))
        self._journal = open(self._journals[1], "a")
        self._news.set()  # what was stored

    def _take(self, now, kind, attributes):
        if kind == "accounting":
            return self._sessions.account(attributes, now)
        return self._sessions.change(attributes) if kind == "coa" else self._sessions.disconnect(attributes, now)

    def request(self, kind, attributes):
        """What it says is in the journal when this returns."""
        now = time.time()
        with self._lock:
            self._journal.write(json.dumps([now, kind, attributes]) + "\n")
            self._journal.flush()
            changed = self._take(now, kind, attributes)
        if changed:
            self._news.set()

    def _begin_journal(self):
        """The next one; the older one is kept until the sessions are stored."""
        older, journal = self._journals
        self._journal.close()
        with open(older, "a") as file:  # not empty if the sessions could not be stored
            file.write(journal.read_text())
        self._journal = open(journal, "w")

    def _store(self, sessions):
        new = self._settings.state.with_suffix(".new")
        with open(new, "w") as file:
            json.dump(sessions, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._settings.state)
        self._journals[0].unlink(missing_ok=True)

    def step(self):
        """What has changed is stored, and given to the router."""
        with self._lock:
            news = self._news.is_set() | self._sessions.expire(time.time())
            self._news.clear()
            subscribers, sessions = self._sessions.subscribers(), self._sessions.stored()
            refused, self._sessions.refused = self._sessions.refused, 0
            self._begin_journal()
        if refused:
            print(f"{refused} requests refused: there are {MOST} sessions", file=sys.stderr, flush=True)
        self._store(sessions)
        if news and not self._router.give(subscribers):
            self._news.set()

    def run(self):
        while True:
            self._news.wait(60)
            time.sleep(self._settings.interval)
            try:
                self.step()
            except OSError as e:
                print(e, file=sys.stderr, flush=True)
                self._news.set()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        try:
            kind = self.path.strip("/")
            attributes = json.loads(self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 1 << 20)))
            known = kind in ("accounting", "coa", "disconnect") and isinstance(attributes, dict)
            if known:
                self.server.adapter.request(kind, {k: v for k, v in attributes.items() if isinstance(v, dict)})
            self.send_response(204 if known else 404)
        except ValueError:
            self.send_response(400)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    words = argparse.ArgumentParser(description="RADIUS accounting of FreeRADIUS as subscribers of a router")
    words.add_argument("--settings", default="/etc/surety/radius.ini", help="default: %(default)s")
    words.add_argument("--surety", default="surety", help="the program; default: %(default)s")
    arguments = words.parse_args()
    settings = Settings(pathlib.Path(arguments.settings).read_text())
    adapter = Adapter(settings, Router(settings, arguments.surety))
    host, _, port = settings.listen.rpartition(":")
    server = http.server.ThreadingHTTPServer((host, int(port)), Handler)
    server.adapter = adapter
    threading.Thread(target=adapter.run, daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
