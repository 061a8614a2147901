"""Bundles: a run in one archive with a checksum of everything, written the same every time and read with suspicion."""

from lineage.bundle.archive import Damage, Extracted, extract_bundle, is_bundle, write_bundle
from lineage.bundle.manifest import FORMAT, MANIFEST, Member, sealed_manifest

__all__ = [
    "FORMAT",
    "MANIFEST",
    "Damage",
    "Extracted",
    "Member",
    "extract_bundle",
    "is_bundle",
    "sealed_manifest",
    "write_bundle",
]
