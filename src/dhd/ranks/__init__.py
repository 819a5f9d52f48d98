"""Jobs of several engines: a leader, one rank on each node, one worker for each engine.

The rule's script leads. It writes a job file into the folder of this run, lets the site's
launcher start one rank on each node, and each rank starts its node's workers. Every worker runs
the session of the whole bundle, takes the next shard that is free, and fills journals. When
all have ended the leader writes the bundle's files from the journals.
"""
