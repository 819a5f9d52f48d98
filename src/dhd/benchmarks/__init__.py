"""Benchmarks: download, check and load upstream files as :class:`dhd.problems.Problem`."""

from dhd.benchmarks.download import download_benchmark
from dhd.benchmarks.load import LoadedBenchmark, load_benchmark, problem_count

__all__ = ["LoadedBenchmark", "download_benchmark", "load_benchmark", "problem_count"]
