/* The inner loops that gain most from a compiler. Plain C99 over arrays that the caller owns; nothing here allocates.
 *
 * Every function does the same operations on the same numbers in the same order as its twin in Python, so that both
 * give equal results to the bit: no fused or reordered arithmetic (see hatch_build.py for the compiler's options).
 */
#include <stdint.h>

typedef int64_t I;

#ifdef _WIN32
#define SHARED __declspec(dllexport)
#else
#define SHARED
#endif

/* The twin of `trees._forests`: best for the subtrees at the places i and j; fills `tree` for the whole trees in it. */
static void forests(I i, I j, I width, const I *lefts, const I *rights, const double *weights, double *tree, double *best)
{
    const I first = lefts[i], start = rights[j], columns = j - start + 1, stride = columns + 1;
    const I *skip = rights + start;
    for (I c = 0; c < stride; c++) best[c] = 0.0;
    for (I row = first; row <= i; row++) {
        const double *above = best + (row - first) * stride;
        const double *base = best + (lefts[row] - first) * stride - start;
        double *here = best + (row - first + 1) * stride;
        double *whole = tree + row * width + start;
        const double *weight = weights + row * width + start;
        const int spine = lefts[row] == first;
        double most = 0.0;
        here[0] = 0.0;
        for (I c = 0; c < columns; c++) {
            const int both = spine && skip[c] == start;
            const double joined = both ? above[c] + weight[c] : base[skip[c]] + whole[c];
            if (above[c + 1] > most) most = above[c + 1];
            if (joined > most) most = joined;
            here[c + 1] = most;
            if (both) whole[c] = most;
        }
    }
}

/* The first half of `trees._solve`: `tree` for the pairs of key places from number `at` on, of which so many are done that they have
 * `cells` cells together, one at least: the caller looks at its clock in between. Which number is next. */
SHARED I fill_trees(I m, const I *lefts, const I *rights, I keys_left, const I *key_left, I keys_right, const I *key_right,
                    const double *weights, double *tree, double *best, I at, I cells)
{
    for (; at < keys_left * keys_right && cells > 0; at++) {
        const I i = key_left[at / keys_right], j = key_right[at % keys_right];
        forests(i, j, m + 1, lefts, rights, weights, tree, best);
        cells -= (i - lefts[i] + 1) * (j - rights[j] + 1);
    }
    return at;
}

/* The second half of `trees._solve`. Trees of n and m places, a virtual root behind each; `pairs` and `todo` hold two numbers for
 * each place of the smaller tree, the root's included. The number of matched pairs; their weight is the last of `tree`. */
SHARED I trace_trees(I n, I m, const I *lefts, const I *rights, const double *weights, double *tree, double *best, I *todo,
                     I *pairs)
{
    const I width = m + 1;
    I waiting = 1, found = 0;
    todo[0] = n;
    todo[1] = m;
    while (waiting) {
        waiting--;
        const I i = todo[2 * waiting], j = todo[2 * waiting + 1];
        const I first = lefts[i], start = rights[j], stride = j - start + 2;
        I row = i, column = j;
        forests(i, j, width, lefts, rights, weights, tree, best);
        while (row >= first && column >= start) {
            const double *here = best + (row - first + 1) * stride + (column - start + 1);
            if (*here == here[-stride])
                row--;
            else if (*here == here[-1])
                column--;
            else if (lefts[row] == first && rights[column] == start) {
                pairs[2 * found] = row--;
                pairs[2 * found + 1] = column--;
                found++;
            } else {
                todo[2 * waiting] = row;
                todo[2 * waiting + 1] = column;
                waiting++;
                row = lefts[row] - 1;
                column = rights[column] - 1;
            }
        }
    }
    return found;
}

/* The twin of the loop in `drawing.documents_drawn`: how often n draws give each of n documents, a row for each resample.
 *
 * The generator is NumPy's PCG64 (O'Neill 2014, XSL-RR), whose numbers are used in halves, the low one first; a half x becomes
 * the document (x n) >> 32, and is passed over where the low bits of x n say that it would favour a document (Lemire 2019).
 * `state` is the generator's: state and increment, high and low words each, whether a half is left, and that half.
 */
SHARED I draw_documents(uint64_t *state, I n, I resamples, float *counts)
{
#ifdef __SIZEOF_INT128__
    typedef unsigned __int128 U;
    const U multiplier = ((U)0x2360ED051FC65DA4u << 64) | 0x4385DF649FCCF645u;
    const U increment = ((U)state[2] << 64) | state[3];
    const uint32_t bound = (uint32_t)n, least = (uint32_t)(-bound) % bound;
    U at = ((U)state[0] << 64) | state[1];
    int left = state[4] != 0;
    uint32_t half = (uint32_t)state[5];
    for (I r = 0; r < resamples; r++, counts += n) {
        for (I k = 0; k < n; k++) counts[k] = 0.0f;
        for (I drawn = 0; drawn < n;) {
            uint64_t scaled = (uint64_t)half * bound;
            if (!left) {
                at = at * multiplier + increment;
                const uint64_t high = (uint64_t)(at >> 64), mixed = high ^ (uint64_t)at, turn = high >> 58;
                const uint64_t next = (mixed >> turn) | (mixed << ((64 - turn) & 63));
                half = (uint32_t)(next >> 32);
                scaled = (next & 0xFFFFFFFFu) * bound;
                const uint64_t other = (uint64_t)half * bound;
                if ((uint32_t)scaled >= least && (uint32_t)other >= least && drawn + 2 <= n) { /* nearly always */
                    counts[scaled >> 32] += 1.0f;
                    counts[other >> 32] += 1.0f;
                    drawn += 2;
                    continue;
                }
            }
            left = !left;
            if ((uint32_t)scaled < least) continue;
            counts[scaled >> 32] += 1.0f;
            drawn++;
        }
    }
    state[0] = (uint64_t)(at >> 64);
    state[1] = (uint64_t)at;
    state[4] = (uint64_t)left;
    state[5] = half;
    return 1;
#else
    (void)state, (void)n, (void)resamples, (void)counts;
    return 0;
#endif
}
