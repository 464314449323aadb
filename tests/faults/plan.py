# SPDX-License-Identifier: Apache-2.0
"""Which faults befall which parts when: a list of rounds, made of a seed and nothing else.

A round has up to two faults of each node, at once if chance wants it so: an agent that is killed
while its jailer is stopped, say. And it has some of what all nodes share, one after the other.
Those of nodes that are to last longer than any time by which a node is given up come without the
latter: while the controller or its API server is away, no node is given up.
"""

from kinds import KINDS, Fault
from world import NODES

LATEST_S = 1.2  # after the begin of a round
PAUSE_S = (0.2, 0.8)  # between two that all nodes share
SHARED_A_ROUND = 3


def _shuffled(chance, items):
    return chance.sample(items, len(items))


def _kinds(chance, times, only):
    """Every kind so many times; of a family one, if it is once."""
    chosen = [kind for kind in KINDS if only in kind.name]
    if times > 1:
        return chosen * times
    families = {}
    for kind in chosen:
        families.setdefault(kind.family or kind.name, []).append(kind)
    return [chance.choice(kinds) for kinds in families.values()]


def _of_nodes(chance, kinds, of_each):
    """A round's faults of nodes; takes their kinds away."""
    faults = []
    for node in _shuffled(chance, NODES * of_each):
        if kinds:
            kind = kinds.pop()
            faults.append(Fault(kind, node, chance.uniform(0.1, LATEST_S),
                                chance.uniform(*kind.seconds)))
    return faults


def _shared(chance, kinds):
    faults, at_s = [], 0.0
    for _ in range(SHARED_A_ROUND):
        if kinds:
            kind = kinds.pop()
            at_s += chance.uniform(*PAUSE_S)
            faults.append(Fault(kind, kind.target, at_s, chance.uniform(*kind.seconds)))
            at_s += faults[-1].for_s
    return faults


def make(chance, times, only=""):
    """only: a part of the names of the kinds that are wanted."""
    kinds = _shuffled(chance, _kinds(chance, times, only))
    long = [kind for kind in kinds if kind.of_node and kind.is_long]
    short = [kind for kind in kinds if kind.of_node and not kind.is_long]
    shared = [kind for kind in kinds if not kind.of_node]
    rounds = []
    while long:
        rounds.append(_of_nodes(chance, long, 1))
    while short or shared:
        rounds.append(_of_nodes(chance, short, 2) + _shared(chance, shared))
    return _shuffled(chance, rounds)
