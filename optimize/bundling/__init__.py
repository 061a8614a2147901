"""A run in one archive: packed, with the text of others withheld where it must be, audited elsewhere and replayed."""

from optimize.bundling.auditing import audit_bundle
from optimize.bundling.packing import Packed, pack_run
from optimize.bundling.replaying import Replayed, replay_bundle

__all__ = ["Packed", "Replayed", "audit_bundle", "pack_run", "replay_bundle"]
