# SPDX-License-Identifier: BSD-3-Clause
"""Which rows count. A row that could not fail, that repeats another, or that is made from what it is compared with claims nothing.

A miss is hidden by none of this, unless it is the same miss of the same runs.
"""
import statistics


def settle(results):
    """Says of each result why it does not count, if so; a row repeats only an earlier one."""
    earlier = {}
    for result in results:
        if not result.values or not result.row.band or result.row.contradicts:
            continue
        same = earlier.setdefault((result.judged, tuple(result.outcomes)), [])
        result.uncounted = idle(result) or repeats(result, same)
        if not result.uncounted:
            same.append(result)


def idle(result):
    """A row that is met whatever the mechanism does, or because it is made from what it is compared with."""
    row = result.row
    if result.judged != "met":
        return ""
    if row.derived:
        return row.derived
    if row.off and result.off and all(map(row.band.holds, result.off if row.every else [statistics.fmean(result.off)])):
        return f"met with this too: {row.off[0]}"
    if row.acts and not result.acted:
        return f"{row.acts[0]} never acts"
    if len(set(row.cases)) > 1 and all(len(set(outcome)) == 1 for outcome in result.outcomes):
        return "the compared runs are the same to the last digit"
    return ""


def repeats(result, earlier):
    """The same measure of the same runs. Other bands on the runs of the same cases are claims of their own, unless one follows from the
    other; runs of other cases that are the same to the last digit show nothing that was changed."""
    for other in earlier:
        if (other.beyond and not result.beyond) or other.row.unit != result.row.unit or not same(other.row.value, result.row.value):
            continue
        if result.judged == "met":
            repeated = other.row.cases != result.row.cases or inside(other.row.band, result.row.band)
        else:
            repeated = (other.row.band.low, other.row.band.high) == (result.row.band.low, result.row.band.high)
        if repeated:
            return f"as {other.row.name}: {'the runs are the same to the last digit' if other.row.cases != result.row.cases else 'follows from it'}"
    return ""


def inside(narrow, wide):
    return wide.low <= narrow.low and narrow.high <= wide.high


def same(one, other):
    """Whether two functions measure the same: one code over the same captured values."""
    if not (hasattr(one, "__code__") and hasattr(other, "__code__")):
        return one is other or one == other
    if one is other:
        return True
    cells = [[cell.cell_contents for cell in function.__closure__ or ()] for function in (one, other)]
    return one.__code__ == other.__code__ and len(cells[0]) == len(cells[1]) and all(map(same, *cells))
