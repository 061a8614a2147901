"""The published tests and intervals, recomputed from the counts that stand beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from experiments.reproduce.figures import Figure, Range, compare, half_unit
from experiments.reproduce.printed import Record, read_record
from lineage.errors import InputError
from optimize.stats import cohen_kappa, exact_mcnemar, fisher_exact, holm, sign_test, two_proportion_z, wilson

FILE: Final = "published_statistics.json"


def statistics_figures(directory: Path) -> Iterator[Figure]:
    """Every figure of the file.

    Raises:
        InputError: the file, a section or a key is missing or is not what it should be.
    """
    published = read_record(directory / FILE)
    for section in published.keys:
        if section not in _SECTIONS:
            raise InputError(
                f"{published.file}: key {section!r} names no test or interval known here; known: {', '.join(_SECTIONS)}"
            )
    for section, recompute in _SECTIONS.items():
        for row in published[section].items:
            try:
                yield from recompute(row, published[section])
            except InputError as error:
                place = f"{row.file}: key {row.key!r}"
                raise error if str(row.file) in str(error) else InputError(f"{place}: {error}") from error


def _wilson(row: Record, section: Record) -> Iterator[Figure]:
    del section
    k, n, places = row["k"].count, row["n"].count, row["places"].count
    if k > n or n == 0:
        raise row["k"].wrong(f"at most n = {n}, of at least 1")
    interval = wilson(k, n)
    for key, end in (("lo", interval.low), ("hi", interval.high)):
        yield compare(row[key], Range.exact(end), f"Wilson interval of {k} of {n}", places=places)


def _mcnemar(row: Record, section: Record) -> Iterator[Figure]:
    del section
    b, c = row["b"].count, row["c"].count
    yield compare(row["p"], Range.exact(exact_mcnemar(b, c).p), f"exact McNemar test of {b} and {c}")


def _sign(row: Record, section: Record) -> Iterator[Figure]:
    del section
    wins, losses = row["wins"].count, row["losses"].count
    yield compare(row["p"], Range.exact(sign_test(wins, losses).p), f"exact sign test of {wins} to {losses}")


def _fisher(row: Record, section: Record) -> Iterator[Figure]:
    del section
    table = [[cell.count for cell in line.items] for line in row["table"].items]
    yield compare(row["p"], Range.exact(fisher_exact(table).p), f"Fisher's exact test of {table}, two-sided")


def _kappa(row: Record, section: Record) -> Iterator[Figure]:
    del section
    matrix = [[cell.count for cell in line.items] for line in row["matrix"].items]
    plain, weighted = cohen_kappa(matrix), cohen_kappa(matrix, weights="linear")
    yield compare(row["linear_weighted"], Range.exact(weighted.value), weighted.method)
    yield compare(row["unweighted"], Range.exact(plain.value), plain.method)
    yield compare(row["observed_weighted"], Range.exact(weighted.observed), "observed agreement, linear weights")
    yield compare(row["expected_weighted"], Range.exact(weighted.expected), "agreement by chance, linear weights")


def _z(row: Record, section: Record) -> Iterator[Figure]:
    k1, n1, k2, n2 = (row[key].count for key in ("k1", "n1", "k2", "n2"))
    replicates = _pooled_over(n1, n2, section)
    test = two_proportion_z(k1, n1, k2, n2, replicates=replicates)
    if test.reason:
        raise row.wrong(f"counts of two proportions that differ in something ({test.reason})")
    yield compare(row["z"], Range.exact(test.statistic), f"{test.method}: {k1} of {n1} and {k2} of {n2}")


def _pooled_over(n1: int, n2: int, section: Record) -> int:
    """Over how many replicates a row pools: both of its samples are so many times those of another row."""
    for other in section.items:
        one, two = other["n1"].count, other["n2"].count
        if 0 < one < n1 and two > 0 and n1 % one == 0 and n2 == two * (n1 // one):
            return n1 // one
    return 1


def _holm(row: Record, section: Record) -> Iterator[Figure]:
    del section
    family, smallest = row["family"].count, row["smallest_p"].number
    if family < 1:
        raise row["family"].wrong("a number of tests, of at least 1")
    printed = Range.of(smallest)
    ends = [holm([min(max(p, 0.0), 1.0), *[1.0] * (family - 1)])[0] for p in (printed.low, printed.high)]
    yield compare(
        row["adjusted"], Range(*ends), f"Holm over {family} tests, of a smallest p printed as {smallest.text}"
    )


def _tie_adjusted(row: Record, section: Record) -> Iterator[Figure]:
    del section
    wins, ties = row["strict_win_rate"].number, row["tie_rate"].number
    value = float(wins) + float(ties) / 2.0
    reach = half_unit(wins.places) + half_unit(ties.places) / 2.0
    yield compare(row["paired"], Range.exact(value).widened(reach), "strict wins and half of the ties, both rounded")


_SECTIONS: Final[Mapping[str, Callable[[Record, Record], Iterator[Figure]]]] = {
    "wilson95": _wilson,
    "exact_mcnemar_two_sided": _mcnemar,
    "sign_test_two_sided": _sign,
    "fisher_two_sided": _fisher,
    "kappa": _kappa,
    "two_proportion_z": _z,
    "holm": _holm,
    "tie_adjusted": _tie_adjusted,
}
