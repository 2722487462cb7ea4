/* The inner loops that gain most from a compiler. Plain C99 over arrays that the caller owns; nothing here allocates.
 *
 * A function that has a twin in Python does the same operations on the same numbers in the same order, so that both
 * give equal results to the bit: no fused or reordered arithmetic (see hatch_build.py for the compiler's options).
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef int64_t I;

#ifdef _WIN32
#define SHARED __declspec(dllexport)
#else
#define SHARED
#endif

/* What `native.py` expects: counts up with every change of what is called from there. */
SHARED I interface(void) { return 2; }

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

/* So many forests are filled side by side. */
enum { LANES = 8 };

/* Rows of forests that grow by one node each, `up` of them, on top of row 0 of `best`; a row has `width` + 1 places of LANES numbers. Place k
 * stands for the forest that ends with node k - 1 of the order, whose subtree is the last `sizes[k - 1]` places; it is in those lanes whose
 * numbers, from `first` on, are below upto[k - 1], and the others have what is before it. Places before `begin` are empty forests. */
static void grow(I up, const I *rows, const I *row_sizes, I width, const I *nodes, const I *sizes, const I *upto, I first, I begin,
                 const double *tree, I stride, float *best)
{
    const I step = (width + 1) * LANES;
    for (I r = 1; r <= up; r++) {
        const float *above = best + (r - 1) * step, *base = best + (r - row_sizes[r - 1]) * step;
        const double *whole = tree + rows[r - 1] * stride;
        float *here = best + r * step;
        for (I l = 0; l < LANES; l++) here[(begin - 1) * LANES + l] = 0.0f;
        for (I k = begin; k <= width; k++) {
            const float *up_here = above + k * LANES, *before = here + (k - 1) * LANES;
            const float *rest = base + (k - sizes[k - 1]) * LANES;
            const float more = (float)whole[nodes[k - 1]];
            const I alive = upto[k - 1] - first;
            float *now = here + k * LANES;
            if (alive >= LANES)
                for (I l = 0; l < LANES; l++) {
                    const float joined = rest[l] + more;
                    const float most = up_here[l] > before[l] ? up_here[l] : before[l];
                    now[l] = joined > most ? joined : most;
                }
            else
                for (I l = 0; l < LANES; l++) {
                    const float joined = rest[l] + more;
                    const float most = up_here[l] > before[l] ? up_here[l] : before[l];
                    now[l] = l >= alive ? before[l] : joined > most ? joined : most;
                }
        }
    }
}

/* One node v of a path down the left tree, on top of the node h that is below it on the path (-1: v is a leaf); see `trees._Plan`. `state`, with
 * width + 1 places a row, has for the subtree at h, and then for that at v, what it earns with every forest of the right tree: those nodes
 * that come not before the i-th in preorder, and before place e. Fills `tree` for v and every node. The orders of the right tree are by place
 * and by descending preorder, each with sizes of subtrees and the lanes that a node is in; `left_*` are the nodes to the left of h below v,
 * by descending preorder, `right_*` those to its right, by place. Whole numbers below 2^24 are exact in floats of 32 bits. */
SHARED void climb_tree(I v, I left_up, const I *left_rows, const I *left_sizes, I right_up, const I *right_rows, const I *right_sizes, I width,
                       const I *places, const I *sizes, const I *upto, const I *turned, const I *turned_sizes, const I *turned_upto,
                       const double *weights, double *tree, float *state, float *best)
{
    const I line = width + 1;
    for (I first = 0; right_up && first < width; first += LANES) { /* lanes: forests from so many nodes in preorder on */
        const I lanes = width - first < LANES ? width - first : LANES;
        I begin = 1;
        while (begin < width && upto[begin - 1] <= first) begin++;
        for (I k = begin - 1; k <= width; k++)
            for (I l = 0; l < LANES; l++) best[k * LANES + l] = l < lanes ? state[(first + l) * line + k] : 0.0f;
        grow(right_up, right_rows, right_sizes, width, places, sizes, upto, first, begin, tree, width, best);
        const float *last = best + right_up * line * LANES;
        for (I k = begin; k <= width; k++)
            for (I l = 0; l < lanes; l++) state[(first + l) * line + k] = last[k * LANES + l];
    }
    for (I first = 0; left_up && first < width; first += LANES) { /* lanes: forests before place width - first, width - first - 1, ... */
        const I lanes = width - first < LANES ? width - first : LANES;
        I begin = 1;
        while (begin < width && turned_upto[begin - 1] <= first) begin++;
        for (I k = begin - 1; k <= width; k++)
            for (I l = 0; l < LANES; l++) best[k * LANES + l] = l < lanes ? state[(width - k) * line + width - first - l] : 0.0f;
        grow(left_up, left_rows, left_sizes, width, turned, turned_sizes, turned_upto, first, begin, tree, width, best);
        const float *last = best + left_up * line * LANES;
        for (I k = begin; k <= width; k++)
            for (I l = 0; l < lanes; l++) state[(width - k) * line + width - first - l] = last[k * LANES + l];
    }
    float *old = best, *kept = best + line;
    I filled = width; /* forests of the last row that end before this place, or there, are empty */
    for (I i = width - 1; i >= 0; i--) {
        const I w = turned[width - 1 - i], start = w - turned_sizes[width - 1 - i] + 1;
        float *here = state + i * line;
        const float *below = here + line;
        float whole = (float)weights[v * width + w] + (w + 1 > filled ? old[w + 1] : 0.0f);
        memcpy(kept + start, here + start, (size_t)(line - start) * sizeof *kept);
        if (below[w + 1] > whole) whole = below[w + 1];
        if (here[w + 1] > whole) whole = here[w + 1];
        tree[v * width + w] = whole;
        memcpy(here + start, below + start, (size_t)(w + 1 - start) * sizeof *here);
        for (I e = w + 1; e < line; e++) {
            const float most = here[e] > below[e] ? here[e] : below[e];
            here[e] = whole > most ? whole : most;
        }
        float *other = old;
        old = kept;
        kept = other;
        filled = start;
    }
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

/* The heaviest 1:1 matching of a sparse matrix, whose rows are the runs starts[r] ... starts[r + 1] of `columns` and `weights` (> 0).
 *
 * Prices u of rows and v of columns are kept at 0 or above, with u[r] + v[c] >= weight for every edge, equal for a matched one, and 0 for
 * what stays single at the end: the matching is then the heaviest (linear programming duality). First every row takes its best column and
 * bids the price up to its second best, driving out who was there (Jonker and Volgenant 1987, "augmenting row reduction"). The rows that
 * found nothing then look for the shortest path of alternating edges by u[r] + v[c] - weight (Dijkstra), to a single column or to a row
 * that is given up at the price u.
 *
 * `match` gets the column of each row (-1: none). Work space: `numbers` holds two for each row and five for each column, `reals` two for each.
 * There is no twin in Python: without a compiler SciPy's solver finds a matching of the same weight, of several perhaps another.
 */
#define PASSES 4 /* how many bids there are for each row, at most */

typedef struct { /* columns by their key, the least first; `place` is where each stands, OUTSIDE or DONE */
    I size, *columns, *place;
    const double *key;
} Heap;

enum { OUTSIDE = -1, DONE = -2 };

static void rise(Heap *heap, I at, I column)
{
    while (at > 0) {
        const I above = (at - 1) / 2, other = heap->columns[above];
        if (heap->key[other] <= heap->key[column]) break;
        heap->columns[at] = other;
        heap->place[other] = at;
        at = above;
    }
    heap->columns[at] = column;
    heap->place[column] = at;
}

static I take_least(Heap *heap)
{
    const I least = heap->columns[0], last = heap->columns[--heap->size];
    I at = 0;
    heap->place[least] = DONE;
    if (heap->size == 0) return least;
    for (;;) {
        I below = 2 * at + 1;
        if (below >= heap->size) break;
        if (below + 1 < heap->size && heap->key[heap->columns[below + 1]] < heap->key[heap->columns[below]]) below++;
        if (heap->key[heap->columns[below]] >= heap->key[last]) break;
        heap->columns[at] = heap->columns[below];
        heap->place[heap->columns[at]] = at;
        at = below;
    }
    heap->columns[at] = last;
    heap->place[last] = at;
    return least;
}

SHARED void match_sparse(I height, I width, const I *starts, const I *columns, const double *weights, I *match, I *numbers, double *reals)
{
    I *todo = numbers, *seen_rows = todo + height, *owner = seen_rows + height, *before = owner + width, *place = before + width;
    I *seen_columns = place + width;
    double *u = reals, *reached = u + height, *v = reached + height, *distance = v + width;
    Heap heap = {0, seen_columns + width, place, distance};
    I waiting = height, patience = PASSES * height, left = 0;
    for (I r = 0; r < height; r++) {
        match[r] = -1;
        u[r] = 0.0;
        todo[r] = height - 1 - r;
    }
    for (I c = 0; c < width; c++) {
        owner[c] = -1;
        place[c] = OUTSIDE;
        v[c] = 0.0;
    }
    while (waiting) {
        const I r = todo[--waiting];
        double most = 0.0, second = 0.0;
        I best = -1;
        for (I e = starts[r]; e < starts[r + 1]; e++) {
            const double gain = weights[e] - v[columns[e]];
            if (gain > most) {
                second = most;
                most = gain;
                best = columns[e];
            } else if (gain > second)
                second = gain;
        }
        u[r] = second;
        if (best < 0) continue;
        const I other = owner[best];
        if (other >= 0 && (most == second || patience-- <= 0)) {
            u[r] = most;
            seen_rows[left++] = r; /* so far the rows that are left */
            continue;
        }
        v[best] += most - second;
        owner[best] = r;
        match[r] = best;
        if (other >= 0) {
            match[other] = -1;
            todo[waiting++] = other;
        }
    }
    for (I k = 0; k < left; k++) todo[k] = seen_rows[k];
    for (I k = 0; k < left; k++) {
        const I source = todo[k];
        I rows = 0, touched = 0, row = source, end_row = source, end_column = -1;
        double here = 0.0, end = u[source];
        heap.size = 0;
        for (;;) {
            seen_rows[rows] = row;
            reached[rows++] = here;
            if (here + u[row] < end) {
                end = here + u[row];
                end_row = row;
                end_column = -1;
            }
            for (I e = starts[row]; e < starts[row + 1]; e++) {
                const I c = columns[e];
                if (place[c] == DONE) continue;
                const double there = here + (u[row] + v[c] - weights[e]);
                if (there >= end || (place[c] >= 0 && there >= distance[c])) continue;
                distance[c] = there;
                before[c] = row;
                if (owner[c] < 0) {
                    end = there;
                    end_column = c;
                    continue;
                }
                if (place[c] < 0) {
                    seen_columns[touched++] = c;
                    rise(&heap, heap.size++, c);
                } else
                    rise(&heap, place[c], c);
            }
            if (heap.size == 0 || distance[heap.columns[0]] >= end) break;
            const I c = take_least(&heap);
            here = distance[c];
            row = owner[c];
        }
        for (I s = 0; s < rows; s++) {
            const I r = seen_rows[s];
            u[r] -= end - reached[s];
            if (u[r] < 0.0) u[r] = 0.0;
            if (s) v[match[r]] += end - reached[s];
        }
        for (I s = 0; s < touched; s++) place[seen_columns[s]] = OUTSIDE;
        if (end_column < 0) {
            if (end_row == source) continue;
            end_column = match[end_row];
            match[end_row] = -1;
        }
        for (;;) {
            const I r = before[end_column], next = match[r];
            match[r] = end_column;
            owner[end_column] = r;
            if (r == source) break;
            end_column = next;
        }
    }
}

/* The 64 bytes from a place on. Nothing behind the end is read: what the end cuts short is copied to `last`, with `fill` behind it. */
static inline const unsigned char *block_at(const unsigned char *data, I base, I size, int fill, unsigned char *last)
{
    if (size - base >= 64) return data + base;
    memset(last, fill, 64);
    memcpy(last, data + base, (size_t)(size - base));
    return last;
}

/* Which of 64 bytes equal `wanted`, the first as the lowest bit. */
static inline uint64_t bits_equal(const unsigned char *here, unsigned char wanted)
{
    uint64_t bits = 0;
#ifdef __SSE2__
    const __m128i all = _mm_set1_epi8((char)wanted);
    for (int k = 0; k < 4; k++) {
        const __m128i some = _mm_loadu_si128((const __m128i *)(const void *)(here + 16 * k));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(some, all)) << (16 * k);
    }
#else
    for (int k = 0; k < 64; k++) bits |= (uint64_t)(here[k] == wanted) << k;
#endif
    return bits;
}

static inline int lowest_bit(uint64_t bits)
{
#ifdef __GNUC__
    return __builtin_ctzll(bits);
#else
    int at = 0;
    while (!(bits >> at & 1)) at++;
    return at;
#endif
}

/* Which of 64 bytes exceed `limit`, which is not below 127: bytes beyond ASCII are negative where they have a sign. */
static inline uint64_t bits_above(const unsigned char *here, unsigned char limit)
{
    uint64_t bits = 0;
#ifdef __SSE2__
    const __m128i all = _mm_set1_epi8((char)limit), none = _mm_setzero_si128();
    for (int k = 0; k < 4; k++) {
        const __m128i some = _mm_loadu_si128((const __m128i *)(const void *)(here + 16 * k));
        const __m128i above = limit < 128 ? some : _mm_and_si128(_mm_cmpgt_epi8(some, all), _mm_cmplt_epi8(some, none));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(above) << (16 * k);
    }
#else
    for (int k = 0; k < 64; k++) bits |= (uint64_t)(here[k] > limit) << k;
#endif
    return bits;
}

/* Whether a run of bytes is UTF-8 (Unicode 15, table 3-7): bytes that go on stand exactly where those that begin a character say. */
SHARED I is_utf8(const unsigned char *data, I size)
{
    uint64_t before_2 = 0, before_3 = 0, before_4 = 0; /* what begins a character of two bytes or more, of three, of four; of the 64 bytes before */
    unsigned char last[64];
    for (I base = 0; base <= size; base += 64) { /* what the end cuts short has zeros where it should go on */
        const unsigned char *here = block_at(data, base, size, 0, last);
        const uint64_t high = bits_above(here, 0x7F);
        if (!(high | before_2)) continue;
        const uint64_t any = bits_above(here, 0xBF), two = bits_above(here, 0xC1);
        const uint64_t three = bits_above(here, 0xDF), four = bits_above(here, 0xEF);
        if (any != two || bits_above(here, 0xF4)) return 0;
        const uint64_t expected = two << 1 | before_2 >> 63 | three << 2 | before_3 >> 62 | four << 3 | before_4 >> 61;
        if ((high & ~any) != expected) return 0;
        if (three)
            for (uint64_t odd = bits_equal(here, 0xE0) | bits_equal(here, 0xED) | bits_equal(here, 0xF0) | bits_equal(here, 0xF4); odd;
                 odd &= odd - 1) { /* too long, half of a pair, too large */
                const I at = base + lowest_bit(odd);
                const unsigned char first = data[at], second = at + 1 < size ? data[at + 1] : 0;
                if (first == 0xE0 ? second < 0xA0 : first == 0xED ? second > 0x9F : first == 0xF0 ? second < 0x90 : second > 0x8F) return 0;
            }
        before_2 = two;
        before_3 = three;
        before_4 = four;
    }
    return 1;
}

/* The twin of `files.conllu._cut_stretch`: the kind (0: a row, 1: a comment, 2: blank) and the start of each line, and where the pieces of
 * each row end. `piece` is that of each of the `fields` fields of a row, in order. A row with another number of fields is the last that is
 * read, and found[1] says how many it has; found[0] is the number of rows. How many lines were read, all of which end. */
SHARED I cut_rows(const unsigned char *data, I size, I fields, const I *piece, I pieces, unsigned char *kinds, int32_t *starts,
                  int32_t *bounds, I *found)
{
    I lines = 0, rows = 0, field = 0, start = 0;
    unsigned char last[64];
    found[1] = fields;
    for (I base = 0; base < size; base += 64) {
        const unsigned char *here = block_at(data, base, size, 0, last);
        const uint64_t ends = bits_equal(here, '\n');
        for (uint64_t marks = ends | bits_equal(here, '\t'); marks; marks &= marks - 1) {
            const int at = lowest_bit(marks);
            bounds[rows * pieces + piece[field < fields ? field : fields - 1]] = (int32_t)(base + at);
            field++;
            if (!(ends >> at & 1)) continue;
            const unsigned char kind = data[start] == '\n' ? 2 : data[start] == '#';
            starts[lines] = (int32_t)start;
            kinds[lines++] = kind;
            if (!kind) {
                rows++;
                if (field != fields) {
                    found[0] = rows;
                    found[1] = field;
                    return lines;
                }
            }
            start = base + at + 1;
            field = 0;
        }
    }
    found[0] = rows;
    return lines;
}

/* Which of 64 bytes are white space. */
static inline uint64_t bits_blank(const unsigned char *here)
{
    uint64_t bits = 0;
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(' '), before = _mm_set1_epi8('\t' - 1), behind = _mm_set1_epi8('\r' + 1);
    for (int k = 0; k < 4; k++) {
        const __m128i some = _mm_loadu_si128((const __m128i *)(const void *)(here + 16 * k));
        const __m128i control = _mm_and_si128(_mm_cmpgt_epi8(some, before), _mm_cmplt_epi8(some, behind));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_or_si128(control, _mm_cmpeq_epi8(some, space))) << (16 * k);
    }
#else
    for (int k = 0; k < 64; k++) bits |= (uint64_t)(here[k] == ' ' || (here[k] >= '\t' && here[k] <= '\r')) << k;
#endif
    return bits;
}

/* Where the cells of a line begin, and where they end, at most so many. How many there are of these. */
static inline I cut_line(const unsigned char *data, I size, I start, I end, I most, I bounds[])
{
    I found = 0; /* beginnings and ends */
    uint64_t before = 1;
    unsigned char last[64];
    for (I base = start; base < end; base += 64) {
        const unsigned char *here = block_at(data, base, size, ' ', last);
        uint64_t blanks = bits_blank(here);
        if (end - base < 64) blanks |= ~(uint64_t)0 << (end - base);
        for (uint64_t edges = blanks ^ (blanks << 1 | before); edges; edges &= edges - 1) {
            bounds[found++] = base + lowest_bit(edges);
            if (found == 2 * most) return most;
        }
        before = blanks >> 63;
    }
    if (found % 2) bounds[found++] = end;
    return found / 2;
}

static inline int is_number(const unsigned char *data, const I *bounds)
{
    for (I at = bounds[0]; at < bounds[1]; at++)
        if (data[at] < '0' || data[at] > '9') return 0;
    return 1;
}

/* The twin of `tasks.coreference.files._find_words`: where the word of each of n lines is, and how long it is. */
SHARED void find_words(const unsigned char *data, I size, I n, const I *starts, const I *ends, I *start, I *length)
{
    I bounds[16];
    for (I line = 0; line < n; line++) {
        I cells = cut_line(data, size, starts[line], ends[line], 5, bounds);
        I column = cells < 5 ? cells - 2 : 3;
        if (cells > 2 && is_number(data, bounds) && !(cells > 3 && is_number(data, bounds + 2))) column = 1;
        if (cells == 5 && is_number(data, bounds + 6) && is_number(data, bounds + 4) && !is_number(data, bounds + 2) &&
            cut_line(data, size, starts[line], ends[line], 8, bounds) == 7)
            column = 4;
        start[line] = column < 0 ? starts[line] : bounds[2 * column];
        length[line] = column < 0 ? 0 : bounds[2 * column + 1] - bounds[2 * column];
    }
}

static inline uint64_t range_hash(const unsigned char *here, I size, const unsigned char *end)
{
    const uint64_t factor = 0x9E3779B97F4A7C15u;
    const uint16_t one = 1;
    const int little = *(const unsigned char *)&one;
    uint64_t hash = (uint64_t)size * factor, word;
    for (I at = 0; at < size; at += 8) {
        if (size - at >= 8) {
            memcpy(&word, here + at, 8);
        } else if (end - here - at >= 8) { /* what follows is no part of it, whatever the order of bytes in a word */
            const I more = 64 - 8 * (size - at);
            memcpy(&word, here + at, 8);
            word = little ? word << more : word >> more;
        } else {
            unsigned char last[8] = {0};
            memcpy(last + 8 - (size - at), here + at, (size_t)(size - at));
            memcpy(&word, last, 8);
        }
        hash = (hash ^ word) * factor;
        hash ^= hash >> 29;
    }
    return hash * factor;
}

/* The twin of `files.table.hash_ranges`: a number for the bytes of each of n ranges. */
SHARED void hash_spans(const unsigned char *data, I size, I n, const I *start, const I *length, uint64_t *hashes)
{
    for (I i = 0; i < n; i++) hashes[i] = range_hash(data + start[i], length[i], data + size);
}

/* Where the lines of some bytes end. */
SHARED void find_line_ends(const unsigned char *data, I size, I *ends)
{
    unsigned char last[64];
    for (I base = 0; base < size; base += 64) {
        const unsigned char *here = block_at(data, base, size, 0, last);
        for (uint64_t marks = bits_equal(here, '\n'); marks; marks &= marks - 1) *ends++ = base + lowest_bit(marks);
    }
}

/* The bytes of n ranges, one after the other. */
SHARED void take_ranges(const unsigned char *data, I n, const I *start, const I *length, unsigned char *out)
{
    for (I i = 0; i < n; out += length[i++]) memcpy(out, data + start[i], (size_t)length[i]);
}

/* A number of an array of 64 bits each, if `wide`, or of 32. */
static inline I nth(const void *numbers, I at, I wide) { return wide ? ((const I *)numbers)[at] : ((const int32_t *)numbers)[at]; }

/* The twin of `files.table.number_ranges`: the number of each of n ranges of bytes, counted from 0 in order of first occurrence, and
 * where each first occurs. `table` has 2^bits places, more than twice as many as there are ranges, and begins with few of them, which
 * stay in the processor's cache where few ranges are different. How many are different. */
static inline I number_them(const unsigned char *data, I bytes, I n, const void *start, const void *length, I wide, I bits, int32_t *table,
                            int32_t *codes, I *first)
{
    I used = bits < 12 ? bits : 12;
    int32_t found = 0;
    memset(table, -1, sizeof(int32_t) << used);
    for (I i = 0; i < n; i++) {
        const unsigned char *here = data + nth(start, i, wide);
        const I size = nth(length, i, wide);
        uint64_t mask = ((uint64_t)1 << used) - 1, place = range_hash(here, size, data + bytes) >> (64 - used);
        while (table[place] >= 0) {
            const I other = first[table[place]];
            if (nth(length, other, wide) == size && !memcmp(data + nth(start, other, wide), here, (size_t)size)) break;
            place = (place + 1) & mask;
        }
        if (table[place] >= 0) {
            codes[i] = table[place];
            continue;
        }
        first[found] = i;
        codes[i] = table[place] = found++;
        if (used < bits && ((I)found << 1) > ((I)1 << used)) {
            used = used + 2 < bits ? used + 2 : bits;
            mask = ((uint64_t)1 << used) - 1;
            memset(table, -1, sizeof(int32_t) << used);
            for (int32_t k = 0; k < found; k++) {
                place = range_hash(data + nth(start, first[k], wide), nth(length, first[k], wide), data + bytes) >> (64 - used);
                while (table[place] >= 0) place = (place + 1) & mask;
                table[place] = k;
            }
        }
    }
    return found;
}

SHARED I number_spans(const unsigned char *data, I bytes, I n, const I *start, const I *length, I bits, int32_t *table, int32_t *codes, I *first)
{
    return number_them(data, bytes, n, start, length, 1, bits, table, codes, first);
}

SHARED I number_short_spans(const unsigned char *data, I bytes, I n, const int32_t *start, const int32_t *length, I bits, int32_t *table,
                       int32_t *codes, I *first)
{
    return number_them(data, bytes, n, start, length, 0, bits, table, codes, first);
}

/* How many lines end in some bytes: counted in 64 lanes of a byte each, so that the compiler takes many at once. */
SHARED I count_lines(const unsigned char *data, I size)
{
    I found = 0, at = 0;
    while (size - at >= 64) {
        unsigned char lanes[64] = {0};
        for (int round = 0; round < 255 && size - at >= 64; round++, at += 64)
            for (int k = 0; k < 64; k++) lanes[k] += data[at + k] == '\n';
        for (int k = 0; k < 64; k++) found += lanes[k];
    }
    for (; at < size; at++) found += data[at] == '\n';
    return found;
}

static inline int is_white(unsigned char one) { return one == ' ' || (one >= '\t' && one <= '\r'); }

static inline int is_word(unsigned char one)
{
    return one == '_' || (one >= '0' && one <= '9') || (one >= 'A' && one <= 'Z') || (one >= 'a' && one <= 'z');
}

/* The twin of `files.boundaries._blocks`: where blocks of lines begin, each at the beginning or after a blank line, and which of them have
 * a comment that begins with some word. With `every`, each line that is not blank is a block. `starts` and `marked` have room for a block every
 * two bytes. How many blocks there are. */
SHARED I find_blocks(const unsigned char *data, I size, const unsigned char *word, I word_size, I every, I *starts, unsigned char *marked)
{
    I found = 0, fresh = 1;
    for (I at = 0; at < size;) {
        const unsigned char *stop = memchr(data + at, '\n', (size_t)(size - at)), first = data[at];
        const I end = stop ? stop - data + 1 : size;
        I here = at;
        if (first == '\n' || first == '\r' || first == ' ' || first == '\t')
            while (here < end && is_white(data[here])) here++;
        if (here == end) {
            fresh = 1;
        } else {
            if (fresh) {
                marked[found] = 0;
                starts[found++] = at;
                fresh = every;
            }
            if (first == '#' && word_size && !marked[found - 1]) {
                for (here = at + 1; here < end && (data[here] == ' ' || data[here] == '\t');) here++;
                marked[found - 1] = end - here >= word_size && !memcmp(data + here, word, (size_t)word_size) &&
                                    (here + word_size == size || !is_word(data[here + word_size]));
            }
        }
        at = end;
    }
    return found;
}

/* The number of each line, counted from 0 in order of first occurrence, and where each number's first line starts. `table` has 2^bits places.
 * How many lines there are; -1 if those are more than `most`, or the different ones more than half of the places. */
SHARED I number_lines(const unsigned char *data, I size, I most, I bits, int32_t *table, int32_t *codes, I *first, I *found)
{
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    int32_t of_byte[256];
    I lines = 0, start = 0, known = 0;
    unsigned char last[64];
    memset(table, -1, sizeof(int32_t) << bits);
    memset(of_byte, -1, sizeof of_byte);
    for (I base = 0; base < size; base += 64) {
        const unsigned char *here = block_at(data, base, size, 0, last);
        for (uint64_t ends = bits_equal(here, '\n'); ends; ends &= ends - 1) {
            const I end = base + lowest_bit(ends), length = end - start;
            int32_t *place = of_byte + data[start]; /* most lines are short */
            if (length != 1) {
                uint64_t at = range_hash(data + start, length, data + size) >> (64 - bits);
                while (table[at] >= 0) {
                    const I other = first[table[at]];
                    if (data[other + length] == '\n' && !memcmp(data + other, data + start, (size_t)length)) break;
                    at = (at + 1) & mask;
                }
                place = table + at;
            }
            if (lines == most || (*place < 0 && known == (I)1 << (bits - 1))) return -1;
            if (*place < 0) {
                first[known] = start;
                *place = (int32_t)known++;
            }
            codes[lines++] = *place;
            start = end + 1;
        }
    }
    *found = known;
    return lines;
}

/* What is asked of Python: the size of a list, an item of it, and the bytes of a string. All are in its stable interface, and come from the caller. */
typedef ptrdiff_t (*SizeOf)(void *);
typedef void *(*ItemOf)(void *, ptrdiff_t);
typedef const unsigned char *(*BytesOf)(void *, ptrdiff_t *);

/* The twin of `tasks.spans.tags._number_joined`: the number of each string in n lists of so many strings, counted from 0 in order of first occurrence,
 * and where each first occurs. Mostly a string is the very object that was seen before (CPython has one of every letter), which is not
 * looked at again. `table` has 2^bits places, `strings` and `lengths` have half as many. How many strings are different; -1 if they are more than
 * that, if one is not plain ASCII in one line, and with an exception in Python if something is no list or no string. */
SHARED I number_texts(SizeOf size_of, ItemOf item_of, BytesOf bytes_of, void *texts, I n, const I *sizes, I bits, int32_t *table,
                      const unsigned char **strings, I *lengths, int32_t *codes, I *first)
{
    enum { SEEN = 256 };
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    const void *seen[SEEN] = {0};
    int32_t number_of[SEEN];
    I tags = 0, found = 0;
    memset(table, -1, sizeof(int32_t) << bits);
    for (I text = 0; text < n; text++) {
        void *list = item_of(texts, (ptrdiff_t)text);
        if (!list || size_of(list) != sizes[text]) return -1;
        for (I token = 0; token < sizes[text]; token++) {
            void *string = item_of(list, (ptrdiff_t)token);
            const uintptr_t slot = ((uintptr_t)string >> 4) % SEEN;
            if (seen[slot] != string || !string) {
                ptrdiff_t size;
                const unsigned char *here = string ? bytes_of(string, &size) : 0;
                if (!here) return -1;
                uint64_t place = range_hash(here, size, here + size) >> (64 - bits);
                while (table[place] >= 0 && !(lengths[table[place]] == size && !memcmp(strings[table[place]], here, (size_t)size)))
                    place = (place + 1) & mask;
                if (table[place] < 0) {
                    if (found == (I)1 << (bits - 1)) return -1;
                    for (I k = 0; k < size; k++)
                        if (here[k] == '\n' || here[k] == 0 || here[k] > 0x7F) return -1;
                    strings[found] = here;
                    lengths[found] = size;
                    first[found] = tags;
                    table[place] = (int32_t)found++;
                }
                seen[slot] = string;
                number_of[slot] = table[place];
            }
            codes[tags++] = number_of[slot];
        }
    }
    return found;
}

/* The twin of the steps in `program.PrimalDual._block`: over-relaxed steps of the primal-dual hybrid gradient on a matrix by rows, in one
 * pass over the columns and one over the rows. `values`, `prices` and `drawn` go in and out; `reached`, `paid`, `now`, `by` and
 * `price_by` are those of the last step; `ahead` is room for a number a column. What a row without a price adds is 0 and left out. */
SHARED void hybrid_steps(I steps, I height, I width, const int32_t *start, const int32_t *index, const double *value,
                         const double *gain, const double *limit, const double *pace, const double *price_pace, double relaxed,
                         double *values, double *prices, double *drawn, double *reached, double *paid, double *now, double *by,
                         double *price_by, double *ahead)
{
    for (I step = 0; step < steps; step++) {
        for (I c = 0; c < width; c++) {
            const double old = values[c], to = old + pace[c] * (gain[c] - drawn[c]);
            const double here = to < 0.0 ? 0.0 : to > 1.0 ? 1.0 : to;
            reached[c] = here;
            by[c] = here - old;
            ahead[c] = 2.0 * here - old;
            values[c] = old + relaxed * by[c];
            now[c] = 0.0;
        }
        for (I r = 0; r < height; r++) {
            double sum = 0.0;
            for (int32_t k = start[r]; k < start[r + 1]; k++) sum += value[k] * ahead[index[k]];
            const double old = prices[r], to = old + price_pace[r] * (sum - limit[r]);
            const double here = to > 0.0 ? to : 0.0;
            paid[r] = here;
            price_by[r] = here - old;
            prices[r] = old + relaxed * price_by[r];
            if (here != 0.0)
                for (int32_t k = start[r]; k < start[r + 1]; k++) now[index[k]] += value[k] * here;
        }
        for (I c = 0; c < width; c++) drawn[c] += relaxed * (now[c] - drawn[c]);
    }
}
