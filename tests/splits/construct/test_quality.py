"""The bundled consultations keep every quality rule, and the rules bite."""

from __future__ import annotations

from dataclasses import replace

import pytest

from splits.construct import ConsultationSource, FactSource, build_group, parse_note
from splits.construct.quality import content_words, quality_defects, sentences


def test_no_bundled_consultation_has_a_defect(bundled: tuple[ConsultationSource, ...]) -> None:
    assert len(bundled) == 60
    assert {source.group: found for source in bundled if (found := list(quality_defects(source)))} == {}


def test_bundled_sizes_are_within_the_rules(bundled: tuple[ConsultationSource, ...]) -> None:
    for source in bundled:
        assert 150 <= len(source.transcript.split()) <= 300
        assert 80 <= len(source.note.split()) <= 150
        assert 6 <= len(source.facts) <= 9
        assert 3 <= len(build_group(source)) - 1 <= 5
        assert [fact.core for fact in source.facts] == [True] * 5 + [False] * (len(source.facts) - 5)


@pytest.fixture
def source(bundled: tuple[ConsultationSource, ...]) -> ConsultationSource:
    return bundled[0]


def test_sizes_outside_the_rules_are_defects(source: ConsultationSource) -> None:
    found = list(quality_defects(replace(source, transcript="Too short.")))
    assert "transcript has 2 words; the rule is 150 to 300" in found
    found = list(quality_defects(replace(source, facts=source.facts[:5])))
    assert "5 facts; the rule is 6 to 9" in found


def test_too_few_flawed_notes_or_no_commission_are_defects(source: ConsultationSource) -> None:
    found = list(quality_defects(replace(source, additions=(), changes=())))
    assert "no commission: give at least one addition or change" in found
    found = list(quality_defects(replace(source, additions=source.additions * 4)))
    assert any(defect.endswith("flawed notes; the rule is 3 to 5") for defect in found)


def test_the_first_five_facts_and_no_others_are_core(source: ConsultationSource) -> None:
    for facts in (source.facts[::-1], tuple(replace(fact, core=True) for fact in source.facts)):
        assert "the first 5 facts, and no others, must be core" in list(quality_defects(replace(source, facts=facts)))


def test_a_restatement_without_a_mark_is_a_defect(source: ConsultationSource) -> None:
    fact = FactSource("f1", "Cough for three days.", "critical", True, ("Three days.",))
    note, sites = parse_note(
        "HISTORY\n[[f1 explicit: Coughing since Monday.]] Well.\nPLAN\n- Cough, three days: linctus."
    )
    found = list(quality_defects(replace(source, facts=(fact,), note=note, sites=sites, additions=(), changes=())))
    assert any(defect.startswith("fact f1 seems restated without a mark in '- Cough, three days") for defect in found)


def test_a_fact_that_cannot_be_omitted_is_a_defect(source: ConsultationSource) -> None:
    note, sites = parse_note("HISTORY\nA [[f1 explicit: cough]] since Monday.")
    fact = FactSource("f1", "Cough.", "critical", True, ("Cough.",))
    found = list(quality_defects(replace(source, facts=(fact,), note=note, sites=sites, additions=(), changes=())))
    assert any(defect.startswith("fact f1 cannot be omitted: ") for defect in found)


def test_words_and_sentences_are_those_that_carry_content() -> None:
    assert content_words("The patient has had a Cough for 3 days, of 38.7") == {"cough", "3", "days", "38.7"}
    assert sentences("PLAN\nOne. Two!\n- Three") == ["One.", "Two!", "- Three"]
