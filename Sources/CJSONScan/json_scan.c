// SPDX-License-Identifier: Apache-2.0
// What a byte is, and whether it may be outside of strings, is looked up for 32 bytes at once by its two halves; the rest is done with a bit for each byte.
#include "json_scan.h"

#if defined(__x86_64__)
#include <immintrin.h>

typedef struct {
    /// May be outside of strings: white space, brackets, separators, what numbers and literals consist of.
    uint64_t outside;
    uint64_t brackets;
    uint64_t quotes;
    uint64_t backslashes;
    uint64_t controls;
    uint64_t high;
} Masks;

enum { bracket = 16 };

__attribute__((target("avx2"))) static inline Masks masks32(const uint8_t *text) {
    // By the low half of a byte, and by the high one: each bit is a set that has all pairs of its rows and columns.
    const __m256i low = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        2 | 4 | 64, 4 | 32 | 64, 4 | 32 | 64, 4 | 32 | 64, 4 | 32 | 64, 4 | 8 | 32 | 64, 4 | 32 | 64, 4 | 32 | 64,
        4 | 32 | 64, 1 | 4 | 32 | 64, 1 | 4 | 32 | 64, 2 | bracket | 32, 2 | 32, 1 | 2 | bracket | 32, 2 | 32, 32));
    const __m256i high = _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 0, 2, 4, 8, bracket, 32, 64 | bracket, 0, 0, 0, 0, 0, 0, 0, 0));
    const __m256i half = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    __m256i bytes = _mm256_loadu_si256((const __m256i *)text);
    __m256i sets = _mm256_and_si256(
        _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half)),
        _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half)));
    __m256i no_bracket = _mm256_cmpeq_epi8(_mm256_and_si256(sets, _mm256_set1_epi8(bracket)), zero);
    return (Masks){
        .outside = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(sets, zero)) & 0xffffffff,
        .brackets = ~(uint32_t)_mm256_movemask_epi8(no_bracket) & 0xffffffff,
        .quotes = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'))),
        .backslashes = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'))),
        .controls = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes)),
        .high = (uint32_t)_mm256_movemask_epi8(bytes),
    };
}

__attribute__((target("avx2"))) static inline Masks masks64(const uint8_t *text) {
    Masks first = masks32(text), second = masks32(text + 32);
    return (Masks){
        .outside = first.outside | second.outside << 32,
        .brackets = first.brackets | second.brackets << 32,
        .quotes = first.quotes | second.quotes << 32,
        .backslashes = first.backslashes | second.backslashes << 32,
        .controls = first.controls | second.controls << 32,
        .high = first.high | second.high << 32,
    };
}

/// The bytes after a backslash that is none of them. `*carry` tells of the first byte, and then of the first of the next block.
static inline uint64_t escaped(uint64_t backslashes, bool *carry) {
    uint64_t found = *carry;
    backslashes &= ~found;
    *carry = false;
    while (backslashes) {
        uint64_t first = backslashes & -backslashes;
        *carry = first >> 63;
        found |= first << 1;
        backslashes &= ~(first | first << 1);
    }
    return found;
}

/// For each bit, whether an odd number of bits is set up to and with it.
static inline uint64_t odd_up_to(uint64_t bits) {
    for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
}

__attribute__((target("avx2"))) static size_t scan_vectors(JSONScan *scan, const uint8_t *text, size_t count) {
    JSONScan state = *scan;
    size_t at = 0;
    for (; at + 64 <= count; at += 64) {
        Masks masks = masks64(text + at);
        if (masks.high) break;
        if (masks.backslashes || state.is_escaped) masks.quotes &= ~escaped(masks.backslashes, &state.is_escaped);
        // From an opening quote on, up to the byte before the closing one.
        uint64_t inside = odd_up_to(masks.quotes) ^ (state.in_string ? ~0ull : 0);
        uint64_t outside = ~(inside | masks.quotes);
        if ((masks.controls & inside) | (outside & ~masks.outside)) break;
        state.in_string = inside >> 63;
        uint64_t brackets = masks.brackets & outside;
        for (; brackets; brackets &= brackets - 1) {
            unsigned place = (unsigned)__builtin_ctzll(brackets);
            uint8_t byte = text[at + place];
            bool is_array = byte < 0x60;
            if ((byte & 0x0f) == 0x0b) {
                if (state.depth == 64) return at;
                uint64_t bit = 1ull << state.depth++;
                state.kinds = is_array ? state.kinds | bit : state.kinds & ~bit;
            } else {
                if ((state.kinds >> (state.depth - 1) & 1) != is_array) return at;
                if (--state.depth > 0) continue;
                *scan = (JSONScan){.kinds = state.kinds};
                return at + place + 1;
            }
        }
        *scan = state;
    }
    return at;
}

size_t json_scan(JSONScan *scan, const uint8_t *text, size_t count) {
    return count >= 64 && scan->depth > 0 && scan->depth <= 64 && __builtin_cpu_supports("avx2") ? scan_vectors(scan, text, count) : 0;
}

static inline __m128i stops16(const uint8_t *text, __m128i del) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)text);
    return _mm_or_si128(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
        _mm_or_si128(_mm_cmpeq_epi8(bytes, del), _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes)));
}

size_t json_plain(const void *text, size_t from, size_t count, bool stops_at_delete) {
    const uint8_t *bytes = text;
    // Without stops_at_delete, the quote again.
    const __m128i del = _mm_set1_epi8(stops_at_delete ? 0x7f : '"');
    for (; count - from >= 64; from += 64) {
        __m128i first = _mm_or_si128(stops16(bytes + from, del), stops16(bytes + from + 16, del));
        __m128i second = _mm_or_si128(stops16(bytes + from + 32, del), stops16(bytes + from + 48, del));
        if (_mm_movemask_epi8(_mm_or_si128(first, second))) break;
    }
    for (; count - from >= 16; from += 16)
        if (_mm_movemask_epi8(stops16(bytes + from, del))) break;
    return from;
}

#else
size_t json_plain(const void *text, size_t from, size_t count, bool stops_at_delete) {
    (void)text, (void)count, (void)stops_at_delete;
    return from;
}

size_t json_scan(JSONScan *scan, const uint8_t *text, size_t count) {
    (void)scan, (void)text, (void)count;
    return 0;
}
#endif
