// SPDX-License-Identifier: Apache-2.0
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Where a scan is in a JSON text (RFC 8259).
typedef struct {
    /// A bit for each level, the outermost the lowest: set for an array.
    uint64_t kinds;
    /// 1 to 64.
    uint32_t depth;
    bool in_string;
    /// A backslash came last.
    bool is_escaped;
} JSONScan;

/// Follows strings and brackets by blocks of 64 bytes, and returns how far it came: after the bracket that ends the outermost level, which leaves a
/// depth of 0, or before a block that needs a closer look.
///
/// That is one with bytes above 0x7f, with one that does not belong where it is, with a bracket that does not fit, or a 65th level; fewer
/// than 64 bytes at the end; and all of the text where there are no vector instructions.
size_t json_scan(JSONScan *scan, const uint8_t *text, size_t count);

/// Skips blocks of 16 bytes from `from` on, until one has a byte that a JSON string must escape (a quote, a backslash, a control character;
/// if `stops_at_delete`, a DEL) or fewer are left. Returns the offset reached: `from` itself where there are no vector instructions.
/// `from` is at most `count`.
size_t json_plain(const void *text, size_t from, size_t count, bool stops_at_delete);

#endif
