# SPDX-License-Identifier: BSD-3-Clause
"""The console as a reader sees it: its tables as text, what is charted, and what he clicks."""
import json

from browser import Browser

ROWS = """(() => {
  const section = document.querySelector(%s);
  if (!section || !section.querySelector('table')) return [];
  const heads = [...section.querySelectorAll('th')].map((head) => head.textContent);
  return [...section.querySelectorAll('tbody tr')].map((line) =>
    Object.fromEntries([...line.cells].map((cell, i) => [heads[i], cell.textContent])));
})()"""
LINES = """[...document.querySelectorAll(%s + ' canvas')].map((canvas) => Chart.getChart(canvas)).filter(Boolean).map((chart) =>
  Object.fromEntries(chart.data.datasets.map(({label, data}) => [label, data.map(({y}) => y)])))"""


class ConsolePage(Browser):
    def read(self, url="http://127.0.0.1:9464/"):
        self.open(url)
        self.until("document.readyState === 'complete' && typeof source !== 'undefined'")
        return self

    def rows(self, section):
        """[{heading: text}] of a part of the page: `contracts`, `queues` ..."""
        return self.rows_of(f"#{section}")

    def rows_of(self, selector):
        return self.evaluate(ROWS % json.dumps(selector))

    def lines(self, section):
        """Of each chart {name of a line: its values}."""
        return self.evaluate(LINES % json.dumps(f"#{section}"))

    def sort(self, section, heading):
        self.sort_in(f"#{section}", heading)

    def sort_in(self, selector, heading):
        buttons = f"[...document.querySelector({json.dumps(selector)}).querySelectorAll('th button')]"
        button = f"{buttons}.find((button) => button.textContent === {json.dumps(heading)})"
        self.until(button)
        self.evaluate(f"{button}.click()")

    def search(self, words):
        self.evaluate(f"""(() => {{ const box = document.getElementById('search'); box.value = {json.dumps(words)};
                          box.dispatchEvent(new Event('input')); }})()""")

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def too_wide(self):
        """By how much the page is wider than its window."""
        return self.evaluate("document.documentElement.scrollWidth - innerWidth")
