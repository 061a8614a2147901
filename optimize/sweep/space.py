"""The space of a study: its dimensions, its points, and the campaign plan at a point."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from math import floor
from typing import Any, Final, Protocol

from lineage.canonical import canonical_json
from lineage.errors import PlanError
from optimize.plan import Plan, _section, parse_plan
from optimize.sweep.plan import DimensionPlan

Label = str | int | float | bool | None
Point = Mapping[str, Label]
"""What a point chooses: a value, or the label of one, by dimension; those that are not varied there are left out."""

OPEN: Final = ("student", "reflector", "search", "objective", "baseline")
"""Parts of a campaign plan that a search depends on, and that may differ between searches of one study."""
CLOSED: Final[Mapping[str, str]] = {
    "corpus": "all searches of a study are compared on the same examples",
    "splits": "all searches of a study are compared on the same accept groups",
    "gate": "a study opens no held-out group, so that no gate is read",
    "guardrails": "a study opens no held-out group, so that no guardrail is read",
    "replicates": "a study opens no held-out group",
    "limits": "limits change no number",
    "name": "a name changes no number",
    "models": "the model lock pins the models of all searches; vary student.model or reflector.model",
    "controls": "a control makes a campaign that confirms nothing",
    "studied": "it says of a confirming campaign which study it comes from",
}


class Suggesting(Protocol):
    """What chooses the values of one point: an Optuna trial, or another source of them."""

    def suggest_categorical(self, name: str, choices: Sequence[Label]) -> Any:
        """One of several."""
        ...

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        """A whole number of a range."""
        ...

    def suggest_float(
        self, name: str, low: float, high: float, *, step: float | None = None, log: bool = False
    ) -> float:
        """A number of a range."""
        ...


@dataclass(frozen=True, slots=True)
class Space:
    """The dimensions of a study over a campaign plan.

    Args:
        dimensions: by their place in the plan.
        base: the campaign plan as it was written.
        where: what messages call it.

    Raises:
        PlanError: a place is not in a campaign plan, or may not be varied; says why.
    """

    dimensions: Mapping[str, DimensionPlan]
    base: Mapping[str, Any]
    where: str

    def __post_init__(self) -> None:
        for path in self.dimensions:
            check_place(path, where=self.where)
        for path, dimension in self.dimensions.items():
            for other, wanted in dimension.when.items():
                known = self.labels(other)
                missing = [one for one in _listed(wanted) if known is not None and one not in known]
                if missing:
                    raise PlanError(
                        f"{self.where}: space.{path}.when: {other} never is {missing[0]!r}; it is one of "
                        f"{', '.join(map(str, known or ()))}"
                    )

    @property
    def order(self) -> tuple[str, ...]:
        """Dimensions in an order in which those that others depend on come first."""
        done: list[str] = []
        waiting = list(self.dimensions)
        while waiting:
            ready = [path for path in waiting if set(self.dimensions[path].when) <= set(done)]
            if not ready:
                raise PlanError(f"{self.where}: space: {', '.join(waiting)} depend on each other by when")
            done += ready
            waiting = [path for path in waiting if path not in ready]
        return tuple(done)

    def suggest(self, source: Suggesting) -> dict[str, Label]:
        """A point, one dimension after the other."""
        point: dict[str, Label] = {}
        for path in self.order:
            dimension = self.dimensions[path]
            if self._varied(dimension, point):
                point[path] = self._suggested(source, path, dimension)
        return point

    def points(self) -> Iterator[dict[str, Label]]:
        """Every point once, where there is an end of them.

        Raises:
            PlanError: a dimension has no step.
        """
        seen: set[str] = set()
        for chosen in product(*(self._finite(path) for path in self.order)):
            point: dict[str, Label] = {}
            for path, label in zip(self.order, chosen, strict=True):
                if self._varied(self.dimensions[path], point):
                    point[path] = label
            if (key := canonical_json(point)) not in seen:
                seen.add(key)
                yield point

    @property
    def finite(self) -> bool:
        """Whether there is an end of its points."""
        return all(self.labels(path) is not None for path in self.dimensions)

    def corners(self) -> Iterator[dict[str, Label]]:
        """Points in which each value, or each end of a range, occurs; the others are the first of theirs."""
        for path in self.order:
            for label in self._ends(path):
                point: dict[str, Label] = {}
                for other in self.order:
                    if self._varied(self.dimensions[other], point):
                        point[other] = label if other == path else self._ends(other)[0]
                if path in point:
                    yield point

    def labels(self, path: str) -> list[Label] | None:
        """The values or labels of a dimension in order; None for a range without an end of values."""
        dimension = self.dimensions[path]
        if isinstance(dimension.choices, Mapping):
            return list(dimension.choices)
        if dimension.choices is not None:
            return [_label(value) for value in dimension.choices]
        low, high, step = dimension.low, dimension.high, dimension.step
        assert low is not None
        assert high is not None
        if isinstance(low, int) and isinstance(high, int) and (step is None or isinstance(step, int)):
            return list(range(low, high + 1, step or 1))
        if step is None:
            return None
        return [round(low + place * step, 12) for place in range(floor((high - low) / step + 1e-9) + 1)]

    def value(self, path: str, label: Label) -> Any:
        """The plan's value that a label stands for."""
        choices = self.dimensions[path].choices
        if isinstance(choices, Mapping):
            return choices[str(label)]
        if choices is not None:
            return next(value for value in choices if _label(value) == label)
        return label

    def data_at(self, point: Point, base: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The campaign plan at a point, as it would be written."""
        data: dict[str, Any] = copy.deepcopy(dict(self.base if base is None else base))
        for path in sorted(point, key=lambda path: (path.count("."), path)):
            *above, last = path.split(".")
            place = data
            for name in above:
                if not isinstance(place.get(name), dict):
                    place[name] = {}
                place = place[name]
            place[last] = copy.deepcopy(self.value(path, point[path]))
        return data

    def plan_at(self, point: Point) -> Plan:
        """The campaign plan at a point, checked.

        Raises:
            PlanError: the settings do not go together.
        """
        return parse_plan(self.data_at(point), where=f"{self.where} at {point_words(point)}")

    def _varied(self, dimension: DimensionPlan, point: Point) -> bool:
        return all(path in point and point[path] in _listed(wanted) for path, wanted in dimension.when.items())

    def _suggested(self, source: Suggesting, path: str, dimension: DimensionPlan) -> Label:
        low, high, step = dimension.low, dimension.high, dimension.step
        if low is None or high is None:
            chosen: Label = source.suggest_categorical(path, self.labels(path) or [])
            return chosen
        if step is not None:
            high = round(low + step * floor((high - low) / step + 1e-9), 12)
        if isinstance(low, int) and isinstance(high, int) and (step is None or isinstance(step, int)):
            return source.suggest_int(path, low, high, step=step or 1, log=dimension.log)
        return source.suggest_float(path, low, high, step=step, log=dimension.log)

    def _finite(self, path: str) -> list[Label]:
        labels = self.labels(path)
        if labels is None:
            raise PlanError(f"{self.where}: space.{path}: a grid needs choices or a step")
        return labels

    def _ends(self, path: str) -> list[Label]:
        labels = self.labels(path)
        if labels is None or self.dimensions[path].choices is None:
            return [self.dimensions[path].low, self.dimensions[path].high]
        return labels


def check_place(path: str, *, where: str) -> None:
    """Refuse a dimension that is not in a campaign plan, or that a study may not vary.

    Raises:
        PlanError: says why, or suggests the near name.
    """
    first, *rest = path.split(".")
    if first in CLOSED:
        raise PlanError(f"{where}: space.{path}: {first} cannot be varied: {CLOSED[first]}")
    if first not in OPEN:
        near = get_close_matches(first, OPEN, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"it begins with one of {', '.join(OPEN)}"
        raise PlanError(f"{where}: space.{path}: unknown setting {first!r}; {hint}")
    section = _section(Plan.model_fields[first].annotation)
    for name in rest:
        if section is None or name not in section.model_fields:
            near = [] if section is None else get_close_matches(name, section.model_fields, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else "see holdgate plan --schema"
            raise PlanError(f"{where}: space.{path}: unknown setting {name!r}; {hint}")
        section = _section(section.model_fields[name].annotation)


def point_words(point: Point) -> str:
    """A point in words; the last parts of its places are enough where they tell them apart."""
    short = [path.rpartition(".")[2] for path in point]
    names = [name if short.count(name) == 1 else path for name, path in zip(short, point, strict=True)]
    return ", ".join(f"{name} {_said(label)}" for name, label in zip(names, point.values(), strict=True)) or "its base"


def _said(label: Label) -> str:
    return f"{label:.4g}" if isinstance(label, float) else "null" if label is None else str(label)


def _label(value: Any) -> Label:
    """What stands for a value: itself, or its JSON where it is more than a scalar."""
    return value if value is None or isinstance(value, str | int | float | bool) else canonical_json(value)


def _listed(wanted: Any) -> list[Any]:
    return list(wanted) if isinstance(wanted, list | tuple) else [wanted]
