"""From computed frames to files: tables in four formats and the comparison with the paper."""
