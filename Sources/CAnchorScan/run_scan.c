// SPDX-License-Identifier: Apache-2.0
// Words of texts are shorter than a run, so most of them are skipped: by their bits in a vector's mask, or from the byte at which a run would end.
#include "anchor_scan.h"

#include <string.h>

/// By the high half of a byte, the low halves of the characters of runs, one bit each: `+-/`, digits, capitals with `_`, small letters.
static const uint16_t characters[16] = {0, 0, 0xa800, 0x03ff, 0xfffe, 0x87ff, 0xfffe, 0x07ff};

static inline int is_in_run(uint8_t byte) { return characters[byte >> 4] >> (byte & 15) & 1; }

static size_t scan_bytes(const uint8_t *text, size_t count, size_t *from, TextRun *runs, size_t limit) {
    size_t found = 0, start = *from;
    while (found < limit && count - start >= RUN_SCAN_LEAST) {
        size_t end = start + RUN_SCAN_LEAST;
        while (end > start && is_in_run(text[end - 1])) end--;
        if (end > start) {
            // No run contains this byte.
            start = end;
            continue;
        }
        end = start + RUN_SCAN_LEAST;
        while (end < count && is_in_run(text[end])) end++;
        runs[found++] = (TextRun){start, end};
        start = end;
    }
    *from = found == limit ? start : count;
    return found;
}

#if defined(__x86_64__)
#include <immintrin.h>

/// One bit for each of 32 bytes.
__attribute__((target("avx2"))) static inline uint32_t mask32(const uint8_t *text) {
    // A bit for each kind of high half: `+-/` 1, digits 2, `A`-`O` and `a`-`o` 4, `P`-`Z` and `_` 8, `p`-`z` 16.
    const __m256i low = _mm256_setr_epi8(
        26, 30, 30, 30, 30, 30, 30, 30, 30, 30, 28, 5, 4, 5, 4, 13, 26, 30, 30, 30, 30, 30, 30, 30, 30, 30, 28, 5, 4, 5, 4, 13);
    const __m256i high = _mm256_setr_epi8(
        0, 0, 1, 2, 4, 8, 4, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 4, 16, 0, 0, 0, 0, 0, 0, 0, 0);
    __m256i bytes = _mm256_loadu_si256((const __m256i *)text);
    __m256i half = _mm256_set1_epi8(15);
    __m256i set = _mm256_and_si256(
        _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half)),
        _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half)));
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(set, _mm256_setzero_si256()));
}

__attribute__((target("avx2"))) static size_t scan_vectors(
    const uint8_t *text, size_t count, size_t *from, TextRun *runs, size_t limit) {
    size_t found = 0, at = *from, start = at;
    for (; at < count; at += 32) {
        uint32_t mask;
        if (count - at >= 32) {
            mask = mask32(text + at);
        } else {
            // A zero is no character of a run.
            uint8_t rest[32] = {0};
            memcpy(rest, text + at, count - at);
            mask = mask32(rest);
        }
        if (mask == UINT32_MAX) continue;
        size_t lead = (size_t)__builtin_ctz(~mask);
        if (at + lead - start >= RUN_SCAN_LEAST) {
            runs[found++] = (TextRun){start, at + lead};
            if (found == limit) {
                *from = at + lead;
                return found;
            }
        }
        // The offsets from which 16 bytes are in a run that does not begin before.
        uint32_t own = mask & ~(((uint32_t)1 << lead) - 1), inner = own & own >> 1;
        inner &= inner >> 2;
        inner &= inner >> 4;
        inner &= inner >> 8;
        if (inner) {
            size_t first = (size_t)__builtin_ctz(inner), end = first + (size_t)__builtin_ctz(~(own >> first));
            if (end < 32) {
                runs[found++] = (TextRun){at + first, at + end};
                if (found == limit) {
                    *from = at + end;
                    return found;
                }
            }
        }
        start = at + 32 - (size_t)__builtin_clz(~mask);
    }
    // A run that ends with the text, at the end of a vector.
    if (start < count && count - start >= RUN_SCAN_LEAST) runs[found++] = (TextRun){start, count};
    *from = count;
    return found;
}

static int has_vectors(void) { return __builtin_cpu_supports("avx2"); }

#else
static int has_vectors(void) { return 0; }
static size_t scan_vectors(const uint8_t *text, size_t count, size_t *from, TextRun *runs, size_t limit) {
    (void)text, (void)count, (void)from, (void)runs, (void)limit;
    return 0;
}
#endif

size_t run_scan(const uint8_t *text, size_t count, size_t *from, TextRun *runs, size_t limit) {
    if (count - *from < RUN_SCAN_LEAST) {
        *from = count;
        return 0;
    }
    return has_vectors() ? scan_vectors(text, count, from, runs, limit) : scan_bytes(text, count, from, runs, limit);
}
