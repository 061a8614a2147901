"""Studies from their files: loading, the plan that confirms their winner, workers, tables and the report."""
