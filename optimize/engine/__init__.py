"""GEPA's search on ``gepa.optimize``: what is drawn, proposed, decided and recorded around its loop.

The published procedure: a per-example Pareto frontier on accept, from which parents are drawn in proportion to the
examples that they lead; a child enters the pool if it beats its parent on a minibatch, and whatever leads nothing is
never drawn again; now and then two parents that lead on different examples are crossed over. What differs from it is an
option of the plan.
"""

from optimize.engine.loop import run_search
from optimize.engine.parents import Front, FrontierSampling, Parents, ParentSampling

__all__ = ["Front", "FrontierSampling", "ParentSampling", "Parents", "run_search"]
