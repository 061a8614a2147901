"""Deterministic construction of flawed notes from an annotated clean note."""

from splits.construct.build import build_files
from splits.construct.edits import Edit, alter, delete_sites, insert
from splits.construct.pairs import build_corpus, build_group, check_pair
from splits.construct.sites import Site, heading_of, parse_note
from splits.construct.source import ConsultationSource, FactSource, read_source, read_sources

__all__ = [
    "ConsultationSource",
    "Edit",
    "FactSource",
    "Site",
    "alter",
    "build_corpus",
    "build_files",
    "build_group",
    "check_pair",
    "delete_sites",
    "heading_of",
    "insert",
    "parse_note",
    "read_source",
    "read_sources",
]
