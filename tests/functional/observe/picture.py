#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of the console in the documentation: what it shows of deploy/try's customers after a while, or of a lab's report. As root:

    /usr/bin/python3 tests/functional/observe/picture.py router/operate/console/console.png [--seconds 60] [--dark] [--width 1280] [--height 900]
    /usr/bin/python3 tests/functional/observe/picture.py tests/lab/results/report.png --report config/examples/lab-edge.yaml
"""
import argparse
import io
import pathlib
import sys
import tempfile
import time

from PIL import Image

COLOURS = 255  # half of the size, and nobody sees it
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/functional"), str(ROOT / "deploy/lib")]

from console_page import ConsolePage  # noqa: E402
from namespaces import sh  # noqa: E402
from router import SURETY  # noqa: E402
from trial import Trial  # noqa: E402


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--report", metavar="SCENARIO", help="of the lab, instead of a router")
    parser.add_argument("--seconds", type=int, default=60, help="of traffic")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=900)
    return parser.parse_args()


def of_report(chosen):
    with tempfile.TemporaryDirectory(prefix="sf-") as directory, ConsolePage() as page:
        sh(SURETY.with_name("surety-lab"), "run", chosen.report, "--report", directory)
        page.window(chosen.width, chosen.height, chosen.dark)
        page.read(f"file://{directory}/index.html").until("document.querySelectorAll('canvas').length > 0")
        return page.picture()


def of_router(chosen):
    trial = Trial("edge1", pathlib.Path(tempfile.mkdtemp(prefix="sf-")), SURETY, True)
    try:
        trial.build()
        trial.start_router()
        with ConsolePage(trial.namespaces["router"]) as page:
            page.window(chosen.width, chosen.height, chosen.dark)
            page.read()
            trial.start_customers()
            trial.start_flood()
            time.sleep(chosen.seconds)
            return page.picture()
    finally:
        trial.remove()


if __name__ == "__main__":
    chosen = options()
    picture = io.BytesIO(of_report(chosen) if chosen.report else of_router(chosen))
    Image.open(picture).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(chosen.file, format="PNG", optimize=True)
