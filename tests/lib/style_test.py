# SPDX-License-Identifier: BSD-3-Clause
"""What style.py takes for a comment and for prose, and which of both offend."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import style  # noqa: E402


def test_comments_of_a_file():
    assert style.comments("""// SPDX-License-Identifier: BSD-3-Clause
// A queue, bounded
// in packets.
//
// Guarantees: none.
const char* url = "http://h";  // default
int depth = 10'000;            // packets
                               // of all classes
// Empties the queue.
}  // namespace surety
""") == [(2, "block", "A queue, bounded in packets."), (5, "block", "Guarantees: none."), (6, "trailing", "default"),
         (7, "trailing", "packets of all classes"), (9, "block", "Empties the queue.")]


@pytest.mark.parametrize("comment", [
    "Of every packet.", "what it costs", "By which it finds its class, and in whose queues it waits.", "as seen last, where there are any",
    "Whether to go.", "That is not over.", "The same, of IPv6.", "In which it is.", "For what others need.", "Where it begins.",
    "When ready() becomes true.", "When it is: the time of it.", "Also the last.", "All that is known.", "Both: in and out.", "by port",
])
def test_no_subject(comment):
    assert style.without_subject(comment)


@pytest.mark.parametrize("comment", [
    "Returns the next packet.", "True if a packet waits.", "packets", "Skip changes to groups.", "for tests", "In bytes.",
    "When the peer closes, the socket is shut down.", "Where a port is down, its packets are dropped.", "Office hours.", "Both ends close.",
    "None: no limit.", "Offered bytes", "one per port", "Asymmetric paths.",
])
def test_with_a_subject(comment):
    assert not style.without_subject(comment)


def test_private_words_but_for_names_and_quotations():
    assert style.private_words("Whoever asks is told, and nobody `stands`: \"who\", sold_to, tell(), sales.h, kNow.") == ["Whoever", "asks", "told", "nobody"]
    assert style.private_words("The understanding of an unknown vector_size, std::vector and Twin::of.") == []


def test_documents_without_their_code():
    assert list(style.prose("# A title\n\n```sh\nsold\n```\nText\n    sold\n- an item\n")) == [(1, "# A title"), (6, "Text"), (8, "- an item")]
    said = "Ask a customer who knows: `surety show sold`, SuretyPromiseMissed, station_routes.h; nobody sells it anew."
    assert style.private_words(said, style.IN_DOCUMENTS) == ["nobody", "sells", "anew"]


def test_a_budget_may_only_fall():
    budget = style.read_budget("# a comment\naqm 100 3 2 1\n")
    assert budget == {"aqm": {"block": 3, "trailing": 2, "words": 1}}
    counts = {"aqm": {"block": 4, "trailing": 2, "words": 0}, "new": {"block": 0, "trailing": 1, "words": 0}}
    assert style.judge(budget, counts) == ([("aqm", "block"), ("new", "trailing")], [("aqm", "words")])
