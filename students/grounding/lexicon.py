"""Words that count for nothing, words that mean the same, and names of sides and units; all small, and all of it here.

The lists are of English notes and consultations. They are written for this gate; what they lack costs recall (a true
"no" is restated instead of delivered) rather than safety, but for a synonym too many, which could support a wrong one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def listed(text: str) -> frozenset[str]:
    """The words of a list that is written as one text."""
    return frozenset(text.split())


FUNCTION: Final = listed(
    "a an the and or of to in on at by for with from as is are was were be been being am has have had "
    "having do does did doing done will would shall should can could may might must not no nor he she it "
    "its they them their theirs his her hers him himself herself i me my mine we us our you your yours "
    "this that these those there here who whom which what when where why how than then so if but into "
    "onto over under about around between within through during after before since until while also just "
    "very really quite too either neither any some all each every such other others else only own same up "
    "down out off again ever never even still yet both s t re ve ll d m anywhere anything anyone nothing "
    "none nobody somewhere something someone yes yeah yep nope ok okay please well um uh er oh hi hello "
    "thanks mr mrs ms dr one's per via vs etc eg ie whether because though although however one ones nil "
    "without apart from aside"
)
"""Words without content of their own. Numbers and sides are not among them."""

NEUTRAL: Final = listed(
    "evid sign symptom histori known know current current present now today moment time patient pt client "
    "person report complain complaint describ endors admit experi feel felt notic show reveal demonstr "
    "suffer find found see seen note observ detect identifi appear indic suggest obvious appar clear "
    "definit clinic exam examin imag scan xray ct mri ultrasound film ecg ekg auscult inspect palpat "
    "review visit consult question say said state advis advic recommend take taken took taking use using "
    "regular regularli kind sort type get got gotten go come came presenc exist status inform detail "
    "posit actual simpli certain certainli"
)
"""Stems that do not change what a negation denies: "no evidence of a rash on examination" denies a rash."""

SYNONYMS: Final[Mapping[str, str]] = {
    "pyrexia": "fever",
    "pyrexial": "fever",
    "febrile": "fever",
    "feverish": "fever",
    "feveri": "fever",
    "dyspnoea": "breathless",
    "dyspnea": "breathless",
    "sob": "breathless",
    "breathlessness": "breathless",
    "swollen": "swell",
    "oedema": "swell",
    "edema": "swell",
    "smoker": "smoke",
    "smokes": "smoke",
    "tobacco": "smoke",
    "cigarettes": "smoke",
    "cigarette": "smoke",
    "allergic": "allergi",
    "alcoholic": "alcoholic",
    "diabetic": "diabet",
    "asthmatic": "asthma",
    "medication": "medicin",
    "medications": "medicin",
    "meds": "medicin",
    "tablets": "tablet",
    "hypertensive": "hypertens",
    "tummy": "abdomen",
    "belly": "abdomen",
    "abdominal": "abdomen",
    "stomach": "abdomen",
    "mi": "infarct",
    "sickness": "vomit",
    "dizziness": "dizzi",
    "dizzy": "dizzi",
    "itchy": "itch",
    "itchiness": "itch",
    "pruritus": "itch",
    "palpitations": "palpit",
    "drank": "drink",
    "bled": "bleed",
    "fractured": "fractur",
    "broken": "fractur",
    "radiates": "radiat",
    "spread": "radiat",
    "spreads": "radiat",
    "tenderness": "tender",
    "redness": "red",
    "jaundiced": "jaundic",
    "seizures": "seizur",
    "fit": "seizur",
    "fits": "seizur",
    "bp": "bp",
    "lightheadedness": "lighthead",
    "lightheaded": "lighthead",
    "wheezing": "wheez",
    "wheeze": "wheez",
    "wheezes": "wheez",
    "haematuria": "hematuria",
    "diarrhoea": "diarrhea",
    "anaemia": "anemia",
    "ischaemia": "ischemia",
    "temperature": "temperatur",
}
"""What a word, or its stem, is compared as."""

_PHRASES: Final[Mapping[str, str]] = {
    "shortness of breath": "breathless",
    "short of breath": "breathless",
    "out of breath": "breathless",
    "difficulty breathing": "breathless",
    "high blood pressure": "hypertens",
    "heart attack": "infarct",
    "myocardial infarction": "infarct",
    "loss of consciousness": "faint",
    "passing out": "faint",
    "passed out": "faint",
    "pass out": "faint",
    "blacked out": "faint",
    "lose consciousness": "faint",
    "lost consciousness": "faint",
    "weight loss": "weightloss",
    "loss of weight": "weightloss",
    "lost weight": "weightloss",
    "losing weight": "weightloss",
    "coughing up blood": "hemoptysis",
    "cough up blood": "hemoptysis",
    "chest x ray": "",
    "x ray": "",
    "chest film": "",
    "at all": "",
    "either way": "",
    "any more": "",
    "any longer": "",
    "of note": "",
    "at present": "",
    "at the moment": "",
    "at this time": "",
    "so far": "",
    "as such": "",
    "that i know of": "",
    "that she knows of": "",
    "that he knows of": "",
    "to speak of": "",
}


def _by_first_word(phrases: Mapping[str, str]) -> Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]:
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for phrase, stem in sorted(phrases.items(), key=lambda item: -len(item[0].split())):
        words = tuple(phrase.split())
        found.setdefault(words[0], []).append((words, stem))
    return {first: tuple(rest) for first, rest in found.items()}


PHRASES: Final = _by_first_word(_PHRASES)
"""Phrases that are compared as one stem, or as nothing, by their first word, longest first."""

IMPLIED: Final[Mapping[str, tuple[str, ...]]] = {
    "alcohol": ("drink", "consum"),
    "allergi": ("react",),
    "medicin": ("prescrib", "prescript"),
}
"""Stems that say nothing beside another: who drinks no alcohol has no alcohol."""

SIDES: Final[Mapping[str, str]] = {
    "left": "left",
    "lt": "left",
    "right": "right",
    "rt": "right",
    "both": "both",
    "bilateral": "both",
    "bilaterally": "both",
    "either": "both",
}

UNITS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("mg", "milligram", "milligrams"), "mg"),
    **dict.fromkeys(("mcg", "microgram", "micrograms", "ug", "\u00b5g"), "mcg"),
    **dict.fromkeys(("g", "gram", "grams"), "g"),
    **dict.fromkeys(("kg", "kilogram", "kilograms", "kilos", "kilo"), "kg"),
    **dict.fromkeys(("ml", "millilitre", "millilitres", "milliliter", "milliliters"), "ml"),
    **dict.fromkeys(("unit", "units", "iu"), "units"),
    **dict.fromkeys(("tablet", "tablets"), "tablets"),
    **dict.fromkeys(("puff", "puffs"), "puffs"),
    **dict.fromkeys(("day", "days"), "days"),
    **dict.fromkeys(("week", "weeks"), "weeks"),
    **dict.fromkeys(("month", "months"), "months"),
    **dict.fromkeys(("year", "years"), "years"),
    **dict.fromkeys(("hour", "hours"), "hours"),
    **dict.fromkeys(("minute", "minutes"), "minutes"),
    **dict.fromkeys(("time", "times"), "times"),
    **dict.fromkeys(("cm", "centimetre", "centimetres"), "cm"),
    **dict.fromkeys(("mm", "millimetre", "millimetres"), "mm"),
    "%": "%",
}

_UNDER_THIRTEEN: Final = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
NUMBERS: Final[Mapping[str, str]] = {
    name: str(number)
    for number, name in enumerate(_UNDER_THIRTEEN)
    if name != "one"  # more often a pronoun
} | {"twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "once": "1", "twice": "2"}

BODY: Final = listed(
    "head neck face eye ear nose mouth throat chest breast back arm elbow wrist hand finger abdomen groin "
    "hip thigh leg knee calf calv ankl foot feet toe shoulder skin lung heart limb joint flank jaw"
)
"""Stems of parts of the body: in a list they share what stands before or after it ("pain in the chest or back")."""

COMPOUNDS: Final = listed(
    "relief killer killers medicine medicines medication tablet tablets syrup alarm clinic chart card "
    "bracelet test tests score scale diary patch patches gum cessation advice leaflet inhaler plan cream "
    "specialist service management vaccine threshold lozenges drops spray nurse team support group "
    "charity belt"
)
"""Words that make what stands before them only name a kind of something else: a cough syrup is no cough."""

FINITE: Final = listed(
    "is are was were am has have had does did do can could will would may might should must remains "
    "remained continues continued took takes started starts uses used feels felt went goes came comes saw "
    "sees gets got noticed notices reports reported states stated says said complains complained "
    "describes described lives works drinks smokes improved worsened developed denies denied presents "
    "presented shows showed reveals revealed began begins wants needs thinks looks appears seems became "
    "becomes gave gives tried tries woke wakes eats sleeps stopped vomited fell settled resolved returned "
    "spread spreads radiates lasts lasted hurts hurt confirms confirmed"
)
"""Verbs that make what follows a comma or *and* a clause of its own."""
