"""The stages of a study: one function a rule, from files to files."""
