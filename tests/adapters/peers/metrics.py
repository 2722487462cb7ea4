"""The `metrics.py` that end-to-end coreference code carries along, from its equations: MUC, B³ and CEAF-φ4 over clusters of mentions,
with what it does to entities of one mention. It is not on PyPI, so this stands for it."""

from scipy.optimize import linear_sum_assignment


def muc(clusters, other):
    """Links: a cluster of n mentions has n - 1, less one for each part that the other side cuts it into beyond the first."""
    right = sum(len(c) - len({other.get(m, m) for m in c}) for c in clusters)
    return right, sum(len(c) - 1 for c in clusters)


def b_cubed(clusters, other):
    """Of each mention the share of its cluster that shares its cluster on the other side; single mentions are skipped on both sides."""
    clusters = [c for c in clusters if len(c) != 1]
    found = [
        len([n for n in c if other.get(n) == other[m]]) / len(c)
        for c in clusters
        for m in c
        if len(other.get(m, ())) > 1
    ]
    return sum(found), sum(map(len, clusters))


def ceafe(clusters, gold):
    """The best matching of clusters by 2 |K n R| / (|K| + |R|); single mentions are skipped among the predicted ones only."""
    clusters = [c for c in clusters if len(c) != 1]
    table = [[2 * len(set(g) & set(c)) / (len(g) + len(c)) for c in clusters] for g in gold]
    best = (
        sum(table[i][j] for i, j in zip(*linear_sum_assignment(table, maximize=True), strict=True))
        if clusters and gold
        else 0
    )
    return best, len(clusters), best, len(gold)


class Evaluator:
    def __init__(self, metric):
        self.metric, self.counts = metric, [0, 0, 0, 0]

    def update(self, predicted, gold, mention_to_predicted, mention_to_gold):
        if self.metric is ceafe:
            more = ceafe(predicted, gold)
        else:
            more = *self.metric(predicted, mention_to_gold), *self.metric(gold, mention_to_predicted)
        self.counts = [one + other for one, other in zip(self.counts, more, strict=True)]

    def get_prf(self):
        pn, pd, rn, rd = self.counts
        p, r = pn / pd if pd else 0, rn / rd if rd else 0
        return p, r, 2 * p * r / (p + r) if p + r else 0


class CorefEvaluator:
    def __init__(self):
        self.evaluators = [Evaluator(metric) for metric in (muc, b_cubed, ceafe)]

    def update(self, predicted, gold, mention_to_predicted, mention_to_gold):
        for one in self.evaluators:
            one.update(predicted, gold, mention_to_predicted, mention_to_gold)

    def get_prf(self):
        return tuple(sum(one.get_prf()[k] for one in self.evaluators) / 3 for k in range(3))

    def get_f1(self):
        return self.get_prf()[2]
