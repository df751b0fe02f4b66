// SPDX-License-Identifier: Apache-2.0
#ifndef ANCHOR_SCAN_H
#define ANCHOR_SCAN_H

#include <stddef.h>
#include <stdint.h>

/// Which of eight groups of words have a byte at each of four places, by the low and by the high half of the byte.
typedef struct {
    uint8_t low[4][16];
    uint8_t high[4][16];
} AnchorGroups;

/// Writes the offsets in ascending order at which four bytes may be a word of one group: all that are one, and some others.
///
/// Looks from `*from` on, writes at most `limit` offsets (32 at least), and leaves in `*from` where to go on: past `count - 4` at the end.
size_t anchor_scan(const AnchorGroups *groups, const uint8_t *text, size_t count, size_t *from, size_t *offsets, size_t limit);

/// The fewest characters of a run.
enum { RUN_SCAN_LEAST = 16 };

/// A run of characters from `start` up to `end`.
typedef struct {
    size_t start, end;
} TextRun;

/// Writes the longest runs of letters, digits and `+/-_`, in ascending order: the characters of base64 in either alphabet, of hex and of tokens.
///
/// Looks from `*from` on, which must not be within a run. Writes at most `limit` runs, and leaves in `*from` where to continue: `count` at the end.
size_t run_scan(const uint8_t *text, size_t count, size_t *from, TextRun *runs, size_t limit);

#endif
