"""Published GEPA lineages as read-only campaigns: read from what others saved, and written as a ledger of ours."""

from optimize.importing.checking import audit_imported
from optimize.importing.records import Comparison, ImportedCandidate, ImportedLineage, SourceFile
from optimize.importing.sources import KINDS, import_lineage, read_lineage, result_lineage
from optimize.importing.writing import write_lineage

__all__ = [
    "KINDS",
    "Comparison",
    "ImportedCandidate",
    "ImportedLineage",
    "SourceFile",
    "audit_imported",
    "import_lineage",
    "read_lineage",
    "result_lineage",
    "write_lineage",
]
