"""Everything computed from records: the paper's tables, the numbers of its figures, its claims."""
