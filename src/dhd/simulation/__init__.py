"""A simulated world: stand-in problems, latent truths about them, and the texts that show them.

The engine in `dhd.engines.simulated` answers requests from this world; planning asks it for the
power of a design; tests ask it for the truths that an analysis has to find again.
"""
