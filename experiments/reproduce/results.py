"""The published results of the campaign: places printed, and figures that follow from printed counts alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from experiments.reproduce.figures import (
    Figure,
    Range,
    compare,
    compare_exactly,
    half_unit,
    share_on_grid,
    undetermined,
)
from experiments.reproduce.printed import Printed, Record, read_record
from lineage.errors import InputError
from optimize.stats import exact_mcnemar, sign_test, two_proportion_z, wilson

FILE: Final = "v3_published_results.json"
TARGETS: Final[Mapping[str, str]] = {"pipeline": "seed_check_binary", "mono": "seed_fc_score"}
"""The two judges whose prompts were searched, and the name of each one's baseline prompt."""
NO_SCORES: Final = "the scores behind it are not in the data"


@dataclass(frozen=True, slots=True)
class Results:
    """The published file, and to how many places each of its numbers was printed.

    A number may have lost trailing zeros. Numbers of one name were printed alike: each has the places of the longest.

    Attributes:
        record: the whole file.
        longest: places by name.
    """

    record: Record
    longest: Mapping[tuple[str, ...], int]

    def places(self, record: Record) -> int:
        """Places to which a number, or a list of them, was printed."""
        return self.longest[_name(record)]

    def compare(self, record: Record, ours: Range | Sequence[Range], how: str, *, reach: float = 0.0) -> Figure:
        """A printed number or list beside ours."""
        return compare(record, ours, how, places=self.places(record), reach=reach)


def read_results(directory: Path) -> Results:
    """The published results.

    Raises:
        InputError: the file is missing or is not what it should be.
    """
    record = read_record(directory / FILE)
    longest: dict[tuple[str, ...], int] = {}
    for leaf in record.leaves():
        values = leaf.value if isinstance(leaf.value, list) else [leaf.value]
        found = max((value.places for value in values if isinstance(value, Printed)), default=0)
        longest[_name(leaf)] = max(longest.get(_name(leaf), 0), found)
    return Results(record, longest)


def _name(record: Record) -> tuple[str, ...]:
    """What numbers printed alike have in common: the key, and whose it is."""
    return record.path[-2:]


@dataclass(frozen=True, slots=True)
class Documents:
    """Omissions and clean notes of a split."""

    omissions: int
    clean: int


def documents(results: Results, split: str) -> Documents:
    """How many omissions and clean notes a split has; both targets were judged on the same."""
    place = results.record["pipeline"][split]
    found = Documents(place["n_omissions"].count, place["n_clean"].count)
    for key, count in (("n_omissions", found.omissions), ("n_clean", found.clean)):
        if not count:
            raise place[key].wrong("a number of notes, of at least 1")
    return found


def detected(results: Results, arm: Record, split: str) -> int:
    """Omissions that an arm flagged, from its printed rate."""
    n = documents(results, split).omissions
    return round(share_on_grid(arm["det10"].number, n) * n)


def arm_figures(results: Results, arm: Record, split: str) -> Iterator[Figure]:
    """Figures of one arm that its printed counts of wins, ties, losses and notes determine."""
    sizes = documents(results, split)
    wins, ties, losses = (arm[key].count for key in ("wins", "ties", "losses"))
    if wins + ties + losses != sizes.omissions:
        raise InputError(
            f"{arm.file}: key {arm.key!r} has {wins} wins, {ties} ties and {losses} losses, which are not the "
            f"{sizes.omissions} omissions of the split; copy the file again"
        )
    for key in ("wins", "ties", "losses"):
        yield undetermined(arm[key], f"an input; {NO_SCORES}")
    yield results.compare(
        arm["paired"],
        Range.exact((wins + ties / 2) / sizes.omissions),
        f"{wins} wins and half of {ties} ties, of {sizes.omissions}",
    )
    yield from _flag_figures(results, arm, sizes)


def _flag_figures(results: Results, arm: Record, sizes: Documents) -> Iterator[Figure]:
    counts = {}
    for key, n, what in (("det10", sizes.omissions, "omissions"), ("fa10", sizes.clean, "clean notes")):
        share = share_on_grid(arm[key].number, n)
        if not 0.0 <= share <= 1.0:
            raise arm[key].wrong("a rate in [0, 1]")
        counts[key] = round(share * n)
        yield results.compare(arm[key], Range.exact(share), f"{counts[key]} of {n} {what}: the nearest share there is")
    if "wilson95" in arm:
        interval = wilson(counts["det10"], sizes.omissions)
        yield results.compare(
            arm["wilson95"],
            [Range.exact(interval.low), Range.exact(interval.high)],
            f"Wilson interval of {counts['det10']} of {sizes.omissions}",
        )
    if "det_vs_fa_z" in arm:
        yield z_figure(results, arm["det_vs_fa_z"], counts["det10"], counts["fa10"], sizes)


def z_figure(results: Results, record: Record, flagged: int, alarms: int, sizes: Documents) -> Figure:
    """Detection against false alarms."""
    test = two_proportion_z(flagged, sizes.omissions, alarms, sizes.clean)
    how = f"{test.method}: {flagged} of {sizes.omissions} and {alarms} of {sizes.clean}"
    if test.reason:
        return undetermined(record, f"{how}: {test.reason}")
    return results.compare(record, Range.exact(test.statistic), how)


def difference_figures(results: Results, place: Record, split: str) -> Iterator[Figure]:
    """Figures of winner against baseline that printed counts and rates determine."""
    baseline, winner = place["baseline"], place["winner"]
    n = documents(results, split).omissions
    printed = float(winner["paired"].number) - float(baseline["paired"].number)
    reach = half_unit(results.places(winner["paired"])) + half_unit(results.places(baseline["paired"]))
    counted = (_credit(winner) - _credit(baseline)) / n
    yield results.compare(
        place["delta_paired"],
        Range.exact(printed).widened(reach),
        f"of the printed paired values, both rounded; the counts give {counted:+.6f}",
    )
    yield from p_figures(results, place)
    more = detected(results, winner, split) - detected(results, baseline, split)
    flags = place["mcnemar_flags"]
    seen = flags["winner_only"].count - flags["baseline_only"].count
    yield Figure(
        place.file.name,
        f"{flags.key}: winner_only less baseline_only",
        f"{seen:+d}",
        f"{more:+d}",
        "match" if seen == more else "differs",
        "what one arm flags more is what it flags alone, less what the other flags alone; from det10",
    )
    for record in (flags["winner_only"], flags["baseline_only"]):
        yield undetermined(record, f"an input, but for their difference; {NO_SCORES}")
    for key in ("wins", "losses"):
        yield undetermined(place["sign_test"][key], f"an input; {NO_SCORES}")
    yield undetermined(place["cluster_bootstrap95"], f"needs the pairs by consultation; {NO_SCORES}")


def p_figures(results: Results, place: Record) -> Iterator[Figure]:
    """The p values of the sign test and of McNemar's, from the counts printed with them."""
    signs, flags = place["sign_test"], place["mcnemar_flags"]
    wins, losses = signs["wins"].count, signs["losses"].count
    yield results.compare(signs["p"], Range.exact(sign_test(wins, losses).p), f"exact sign test of {wins} to {losses}")
    ours, theirs = flags["winner_only"].count, flags["baseline_only"].count
    yield results.compare(
        flags["p"], Range.exact(exact_mcnemar(ours, theirs).p), f"exact McNemar test of {ours} and {theirs}"
    )


def heldout_figures(results: Results) -> Iterator[Figure]:
    """The held-out figures of both targets: no score of that split is in the data, but counts are printed."""
    split = results.record["pipeline"]["heldout"]
    sizes = documents(results, "heldout")
    for key in ("n_omissions", "n_clean", "n_consultations"):
        yield undetermined(split[key], f"an input; {NO_SCORES}")
    for target in TARGETS:
        place = results.record[target]["heldout"]
        for arm in (place["baseline"], place["winner"]):
            yield from arm_figures(results, arm, "heldout")
        yield from difference_figures(results, place, "heldout")
        if "baseline_replicates_paired" in place:
            yield from _replicate_figures(results, place, sizes.omissions)


def _replicate_figures(results: Results, place: Record, n: int) -> Iterator[Figure]:
    for key, halves in (("baseline_replicates_paired", True), ("baseline_replicates_det10", False)):
        shares = [share_on_grid(item.number, n, halves=halves) for item in place[key].items]
        what = f"{'half ' if halves else ''}counts of {n}: the nearest shares there are"
        yield results.compare(place[key], [Range.exact(share) for share in shares], what)
    first, own = place["baseline_replicates_paired"].items[0], place["baseline"]["paired"]
    yield _first_figure(results, own, first)


def _first_figure(results: Results, own: Record, first: Record) -> Figure:
    """Whether the first replicate is the evaluation that was compared."""
    places = results.places(own)
    same = Range.of(own.number, places=places).meets(Range.of(first.number, places=places))
    return Figure(
        own.file.name,
        f"{first.key} beside {own.key}",
        own.number.text,
        first.number.text,
        "match" if same else "differs",
        "the first replicate is the one that was compared",
    )


def _credit(arm: Record) -> float:
    return arm["wins"].count + arm["ties"].count / 2


def confirm_figure(place: Record, results: Results) -> Iterator[Figure]:
    """Whether the rule on accept that decided to open held-out data was met, in printed rates."""
    if "confirm_rule" not in place:
        return
    rule = place["confirm_rule"]
    least = float(rule["threshold_points"].number)
    gains = {}
    for measure in (item.text for item in rule["on"].items):
        winner, baseline = place["winner"][measure], place["baseline"][measure]
        rounding = 100 * (half_unit(results.places(winner)) + half_unit(results.places(baseline)))
        gains[measure] = Range.exact(100 * (float(winner.number) - float(baseline.number))).widened(rounding)
    words = ", ".join(f"{name} {gain.low + (gain.high - gain.low) / 2:+.1f}" for name, gain in gains.items())
    yield undetermined(rule["threshold_points"], "the rule itself")
    if all(gain.low >= least for gain in gains.values()):
        yield compare_exactly(rule["passed"], True, f"gains on accept in points: {words}; each reaches {least:g}")
    elif all(gain.high < least for gain in gains.values()):
        yield compare_exactly(rule["passed"], False, f"gains on accept in points: {words}; none reaches {least:g}")
    else:
        yield undetermined(
            rule["passed"], f"gains on accept in points: {words}; not said whether each must reach {least:g}"
        )
