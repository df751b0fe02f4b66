// SPDX-License-Identifier: Apache-2.0
// Tables of sixteen bytes are looked up in by one instruction for each of a vector's bytes: so all four places of 16 or 32 offsets are told at once.
#include "anchor_scan.h"

static size_t scan_bytes(const AnchorGroups *groups, const uint8_t *text, size_t end, size_t *from, size_t *offsets, size_t limit) {
    size_t found = 0, at = *from;
    for (; at < end && found < limit; at++) {
        uint8_t set = 255;
        for (int place = 0; place < 4; place++) {
            uint8_t byte = text[at + place];
            set &= groups->low[place][byte & 15] & groups->high[place][byte >> 4];
        }
        if (set) offsets[found++] = at;
    }
    *from = at;
    return found;
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2"))) static inline __m256i sets32(const uint8_t *text, __m256i low, __m256i high) {
    __m256i bytes = _mm256_loadu_si256((const __m256i *)text);
    __m256i half = _mm256_set1_epi8(15);
    return _mm256_and_si256(
        _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half)),
        _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half)));
}

__attribute__((target("avx2"))) static size_t scan_vectors(
    const AnchorGroups *groups, const uint8_t *text, size_t end, size_t *from, size_t *offsets, size_t limit) {
    __m256i low[4], high[4];
    for (int place = 0; place < 4; place++) {
        low[place] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)groups->low[place]));
        high[place] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)groups->high[place]));
    }
    size_t found = 0, at = *from;
    for (; at + 32 <= end && found + 32 <= limit; at += 32) {
        __m256i set = _mm256_and_si256(
            _mm256_and_si256(sets32(text + at, low[0], high[0]), sets32(text + at + 1, low[1], high[1])),
            _mm256_and_si256(sets32(text + at + 2, low[2], high[2]), sets32(text + at + 3, low[3], high[3])));
        uint32_t mask = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(set, _mm256_setzero_si256()));
        for (; mask; mask &= mask - 1) offsets[found++] = at + (size_t)__builtin_ctz(mask);
    }
    *from = at;
    return found;
}

static int has_vectors(void) { return __builtin_cpu_supports("avx2"); }

#elif defined(__aarch64__)
#include <arm_neon.h>

static inline uint8x16_t sets16(const uint8_t *text, uint8x16_t low, uint8x16_t high) {
    uint8x16_t bytes = vld1q_u8(text);
    return vandq_u8(vqtbl1q_u8(low, vandq_u8(bytes, vdupq_n_u8(15))), vqtbl1q_u8(high, vshrq_n_u8(bytes, 4)));
}

static size_t scan_vectors(
    const AnchorGroups *groups, const uint8_t *text, size_t end, size_t *from, size_t *offsets, size_t limit) {
    uint8x16_t low[4], high[4];
    for (int place = 0; place < 4; place++) {
        low[place] = vld1q_u8(groups->low[place]);
        high[place] = vld1q_u8(groups->high[place]);
    }
    size_t found = 0, at = *from;
    for (; at + 16 <= end && found + 16 <= limit; at += 16) {
        uint8x16_t set = vandq_u8(
            vandq_u8(sets16(text + at, low[0], high[0]), sets16(text + at + 1, low[1], high[1])),
            vandq_u8(sets16(text + at + 2, low[2], high[2]), sets16(text + at + 3, low[3], high[3])));
        // Four bits for each byte.
        uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_u8(vtstq_u8(set, set)), 4);
        uint64_t mask = vget_lane_u64(vreinterpret_u64_u8(narrow), 0) & 0x8888888888888888;
        for (; mask; mask &= mask - 1) offsets[found++] = at + (size_t)__builtin_ctzll(mask) / 4;
    }
    *from = at;
    return found;
}

static int has_vectors(void) { return 1; }

#else
static int has_vectors(void) { return 0; }
static size_t scan_vectors(
    const AnchorGroups *groups, const uint8_t *text, size_t end, size_t *from, size_t *offsets, size_t limit) {
    (void)groups, (void)text, (void)end, (void)from, (void)offsets, (void)limit;
    return 0;
}
#endif

size_t anchor_scan(const AnchorGroups *groups, const uint8_t *text, size_t count, size_t *from, size_t *offsets, size_t limit) {
    if (count < 4) {
        *from = count;
        return 0;
    }
    // What is past this has no four bytes.
    size_t end = count - 3, found = 0;
    if (has_vectors()) found = scan_vectors(groups, text, end, from, offsets, limit);
    // The last bytes, unless the offsets are full before.
    if (end - *from < 32 || !has_vectors()) found += scan_bytes(groups, text, end, from, offsets + found, limit - found);
    return found;
}
