"""Subcommands of ``dhd``: one module each with HELP, add_arguments and run."""
