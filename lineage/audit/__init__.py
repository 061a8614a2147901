"""The audit of a run directory's structure: the chain, the files it vouches for, and the order of the protocol.

It needs no corpus and no model. An unbroken chain shows that nothing was edited since it was written; a rewrite of
everything shows only against a head kept elsewhere (:func:`check_kept_head`).
"""

from lineage.audit.chain import AuditedLedger, audit_ledger, audited_ledger, check_kept_head
from lineage.audit.record import Finding, Severity

__all__ = ["AuditedLedger", "Finding", "Severity", "audit_ledger", "audited_ledger", "check_kept_head"]
