"""Model files on disk: the demo model, made from a package, and the check of what is there."""
