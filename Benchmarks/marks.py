"""What the figures have to reach, and the table that says which do."""
import statistics

# (scenario, figure, compared with, relation, mark, what it is called). Where another subject is named, the figure is the median over
# the rounds of the ratio to that subject within the same round; otherwise the median of the figure itself.
MARKS = [
    ("small", "cpu_us", "nginx", "<=", 1.45, "CPU per recorded 1 KiB request, times nginx"),
    ("small", "p99_us", None, "<=", 4500, "p99 of recorded 1 KiB requests on 64 connections, µs"),
    ("gzip", "cpu_us", "nginx", "<=", 5.7, "CPU per recorded 64 KiB gzip answer, each another one, times nginx"),
    ("gzip", "p99_us", None, "<=", 10_000, "p99 of them on 16 connections, µs"),
    ("gzip", "stop_ms", None, "<=", 1.0, "the stop after them, ms for each"),
    ("large", "MBps", "nginx", ">=", 0.5, "MB/s of 10 MiB downloads, four at once, times nginx"),
    ("large", "growth_MiB", None, "<=", 40, "memory growth by 10 MiB downloads, MiB"),
    ("huge", "growth_MiB", None, "<=", 40, "memory growth by a 2 GiB download, MiB"),
    ("many", "last_to_first", None, ">=", 0.98, "rate of the last tenth of many exchanges, times the first"),
    ("many", "growth_MiB", None, "<=", 20, "memory growth by many exchanges, MiB"),
    ("many", "opens", None, ">=", 1, "the cassette of many exchanges opens (1 is yes)"),
    ("idle", "memory_MiB", None, "<=", 20, "memory when idle, MiB"),
    ("held", "memory_MiB", None, "<=", 45, "memory with 1,000 idle connections, MiB"),
    ("held", "still_open", None, ">=", 1000, "idle connections still open of 1,000"),
    ("start", "start_ms", None, "<=", 30, "start to accepting, ms"),
    ("replay", "cpu_us", "nginx-static", "<=", 1.3, "CPU per replayed 1 KiB answer, times nginx serving files"),
    ("replay-large", "first_reply_ms", None, "<=", 120, "start to the first reply of 100,000 exchanges, ms"),
    ("replay-large", "resident_MiB", None, "<=", 76, "memory replaying them, MiB (80 MB)"),
    ("replay-large", "large_to_small", None, ">=", 0.9, "rate with 100,000 exchanges, times that with 1,000"),
    ("https", "cpu_us", "nginx", "<=", 1.5, "CPU per 1 KiB request recorded inside TLS, times nginx"),
    ("handshake", "cpu_us", "nginx", "<=", 1.8, "CPU per new tunnel and handshake, times nginx"),
    ("contact", "p50_ms", None, "<=", 1.6, "first contact with a name, p50 ms"),
    ("https-large", "MBps", "nginx", ">=", 0.7, "MB/s of 10 MiB downloads inside TLS, four at once, times nginx"),
    ("https-large", "growth_MiB", None, "<=", 40, "memory growth by them, MiB"),
    ("https-held", "memory_MiB", None, "<=", 95, "memory with 1,000 idle intercepted connections, MiB"),
    ("https-held", "still_open", None, ">=", 1000, "idle intercepted connections still open of 1,000"),
    ("http2", "cpu_us", "haproxy", "<=", 2.0, "CPU per recorded 1 KiB request in HTTP/2 and TLS, times haproxy"),
    ("http2", "loop_us", "haproxy", "<=", 1.4, "of that the event loop's, times all of haproxy's"),
    ("http2-held", "KiB_each", None, "<=", 60, "memory of an idle connection in HTTP/2 and TLS, KiB"),
    ("http2-held", "still_open", None, ">=", 1000, "idle connections in HTTP/2 still open of 1,000"),
    ("websocket", "per_second", "tunnel", ">=", 0.8, "messages per second of 64 WebSockets, times a tunnel"),
    ("websocket-large", "MBps", "tunnel", ">=", 0.8, "MB/s of messages of 64 KB, times a tunnel"),
    ("websocket-huge", "growth_MiB", None, "<=", 40, "memory growth by a message of 100 MB, MiB"),
    ("websocket-many", "growth_MiB", None, "<=", 5, "memory growth by 1,000,000 messages, MiB"),
    ("websocket-held", "KiB_each", None, "<=", 40, "memory of an open WebSocket, KiB"),
    ("websocket-held", "still_open", None, ">=", 1000, "WebSockets still open of 1,000"),
    ("websocket-deflated", "KiB_each", None, "<=", 40, "memory of an open WebSocket that deflates, KiB"),
    ("websocket-opening", "opens_ms", None, "<=", 500, "a conversation of 100,000 messages, question to first reply, ms"),
    ("loop", "coded_to_plain", None, "<=", 1.05, "the event loop's CPU per gzip answer, times one as long that is not coded"),
    ("upload", "peak_MiB", None, "<=", 200, "peak memory of a 2 GiB upload in one part, MiB"),
    ("upload", "part_alone", None, ">=", 1, "the part lies in a file of its own (1 is yes)"),
]


def values(rows, scenario, figure, reference, subject):
    """The figure of a mark in each round, or a word on why there is none."""
    mine = {row["round"]: row for row in rows if row["scenario"] == scenario and row["subject"] == subject}
    if not mine:
        return "not measured"
    if any("error" in row or row["bad"] for row in mine.values()):
        return "failed, see above"
    if reference is None:
        return [row[figure] for row in mine.values()]
    theirs = {row["round"]: row for row in rows if row["scenario"] == scenario and row["subject"] == reference and not row.get("bad")}
    ratios = [row[figure] / theirs[r][figure] for r, row in mine.items() if theirs.get(r, {}).get(figure)]
    return ratios or f"no {reference} beside it"


def judged(rows, subject="wiretape"):
    """Lines of (name, value or word, noise, relation, mark, verdict); the noise is half of what lies between the rounds, as a part of the value."""
    for scenario, figure, reference, relation, mark, name in MARKS:
        found = values(rows, scenario, figure, reference, subject)
        if isinstance(found, str):
            yield name, found, None, relation, mark, "-" if found == "not measured" else "MISS"
            continue
        got = statistics.median(found)
        noise = (max(found) - min(found)) / 2 / got if len(found) > 1 and got else None
        yield name, got, noise, relation, mark, "hit" if (got <= mark if relation == "<=" else got >= mark) else "MISS"


def number(figure):
    if isinstance(figure, str):
        return figure
    return f"{figure:,.0f}" if abs(figure) >= 1000 else f"{figure:.3g}" if abs(figure) < 10 else f"{figure:.1f}"


def table(lines):
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def report(rows):
    """Both tables: the medians of all figures, and the marks."""
    groups = {}
    for row in rows:
        groups.setdefault((row["scenario"], row["subject"]), []).append(row)
    lines = [("scenario", "subject", "rounds", "medians")]
    for (scenario, subject), members in groups.items():
        good = [row for row in members if "error" not in row]
        keys = [key for key in (good[0] if good else {}) if key not in ("scenario", "subject", "round")]
        medians = ", ".join(f"{key} {number(statistics.median(row[key] for row in good))}" for key in keys)
        lines.append((scenario, subject, str(len(members)), medians or members[0]["error"]))
    marks = [("mark", "measured", "noise", "wanted", "")]
    marks += [(name, number(got), "" if noise is None else f"± {noise:.0%}", f"{relation} {number(mark)}", verdict)
              for name, got, noise, relation, mark, verdict in judged(rows)]
    return table(lines) + "\n\n" + table(marks)
