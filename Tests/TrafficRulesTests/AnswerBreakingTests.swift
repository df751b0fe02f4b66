import CassetteModel
import TapeExchange
import Testing
@testable import TrafficRules

/// Faults within answers, step by step.
@Suite struct AnswerBreakingTests {
    private struct Played {
        /// The body in the pieces that the client gets, with a stall as `…`.
        var pieces: [String] = []
        var isFinished = false
        var notes: [String] = []
    }

    private static func play(
        _ fault: String, _ framing: BodyFraming, _ data: [String], fields: [String] = []
    ) throws -> Played {
        let engine = try RulesText.engine("- fault: \(fault)")
        let plan = try #require(engine.plan(for: .get("http://a.example/"), now: .zero))
        var breaking = AnswerBreaking<Never>(try #require(plan.fault), method: "GET", notes: RuleNotes(engine, plan))
        var played = Played()
        let head = ResponseHead(version: .http11, status: 200, reason: [], fields: HeaderFields(fields))
        let steps: [AnswerStep<Never>] =
            [.head(head, framing)] + data.map { .data(Array($0.utf8)) } + [.end(.finished(HeaderFields(), NeverIndexed()))]
        for step in steps.flatMap({ breaking.put($0) }) {
            switch step {
            case .data(let bytes): played.pieces.append(String(decoding: bytes, as: UTF8.self))
            case .stall: played.pieces.append("…")
            case .end(.finished): played.isFinished = true
            case .interim, .head, .raw, .flush, .closeOutput, .end: break
            }
        }
        played.notes = engine.report().flatMap(\.notes)
        return played
    }

    @Test(arguments: [
        (BodyFraming.length(6), "", ["abc", "d", "ef"]), (.length(6), ", after: 1B", ["a", "bcd", "ef"]),
        (.length(6), ", after: 50%", ["abc", "d", "ef"]), (.untilClose, ", after: 50%", ["abc", "def"]),
        (.untilClose, ", after: 0%", ["abc", "def"]), (.untilClose, ", after: 5B", ["abcd", "e", "f"]),
    ]) func aBodyComesInPiecesFromAPlaceOn(framing: BodyFraming, after: String, pieces: [String]) throws {
        let played = try Self.play("{ kind: slice, bytes: 3\(after) }", framing, ["abcd", "ef"])
        #expect(played.pieces == pieces)
        #expect(played.isFinished && played.notes == [])
    }

    /// A body with a content coding may decode to any size.
    @Test(arguments: [(65_536, [], false), (65_537, [], true), (30, ["Content-Encoding: gzip"], true)])
    func aLongBodyIsCorruptedElsewhere(size: Int, fields: [String], isLong: Bool) throws {
        let engine = try RulesText.engine("- fault: corrupt")
        let plan = try #require(engine.plan(for: .get("http://a.example/"), now: .zero))
        var breaking = AnswerBreaking<Never>(try #require(plan.fault), method: "GET", notes: RuleNotes(engine, plan))
        let head = ResponseHead(version: .http11, status: 200, reason: [], fields: HeaderFields(fields))
        let bytes = [UInt8](repeating: 65, count: size)
        for step: AnswerStep<Never> in [.head(head, .length(size)), .data(bytes)] {
            #expect(breaking.longCorruption(before: step) == nil)
            #expect(breaking.put(step).isEmpty)
        }
        let end = AnswerStep<Never>.end(.finished(HeaderFields(), NeverIndexed()))
        let corruption = breaking.longCorruption(before: end)
        #expect((corruption != nil) == isLong)
        let steps = (corruption.map { breaking.put($0()) } ?? []) + breaking.put(end)
        guard steps.count == 3, case .head = steps[0], case .data(let sent) = steps[1], case .end = steps[2] else {
            Issue.record("\(steps)")
            return
        }
        // Thirty letters are not gzip.
        #expect(zip(sent, bytes).count { $0 != $1 } == (fields.isEmpty ? 1 : 0))
        #expect(breaking.hasCome == fields.isEmpty)
    }

    @Test func eventsComeInPiecesFromOneOn() throws {
        let stream = ["data: 1\n\ndata: 2\n\nda", "ta: 3\n\n"]
        let played = try Self.play(
            "{ kind: slice, bytes: 5, after: 1 event }", .untilClose, stream, fields: ["Content-Type: text/event-stream"])
        #expect(played.pieces == ["data: 1\n\n", "data:", " 2\n\n", "da", "ta: 3", "\n\n"])
        #expect(played.isFinished && played.notes == [])
    }

    /// Lines of which the second is longer than what is held, in pieces of so many bytes.
    @Test(arguments: [65_536, 1 << 20, 1 << 22]) func aLongEventCountsOnce(size: Int) throws {
        let lines = ["a\n", String(repeating: "x", count: 2_500_000) + "\n", "b\n", "c\n"]
        let whole = lines.joined()
        let pieces = stride(from: 0, to: whole.utf8.count, by: size).map { String(whole.dropFirst($0).prefix(size)) }
        let note = "an event or message has more than 1 MiB, and the fault needs all of it"
        for (fault, wanted, notes) in [
            ("{ kind: cut, after: 3 events }", lines[0] + lines[1] + lines[2], []),
            ("{ kind: drop, after: 2 events }", lines[0] + lines[1] + lines[3], []),
            ("{ kind: drop, after: 1 event }", lines[0] + lines[2] + lines[3], []),
            ("reorder", lines[1] + lines[0] + lines[2] + lines[3], []),
            ("{ kind: repeat, after: 1 event }", whole, [note]), ("{ kind: reorder, after: 1 event }", whole, [note]),
            ("{ kind: repeat, after: 2 events }", lines[0] + lines[1] + lines[2] + lines[2] + lines[3], []),
        ] {
            let played = try Self.play(fault, .untilClose, pieces, fields: ["Content-Type: application/x-ndjson"])
            // Megabytes, which a failing test would print.
            let isSame = played.pieces.joined() == wanted
            #expect(isSame, "\(fault)")
            #expect(played.notes == notes, "\(fault)")
        }
    }

    @Test(arguments: ["1KiB", "6B", "100%"]) func piecesThatNeverComeAreReported(after: String) throws {
        let played = try Self.play("{ kind: slice, after: \(after) }", .length(6), ["abcdef"])
        #expect(played.pieces == ["abcdef"])
        #expect(played.notes == ["the body of the answer ends before the fault"])
    }

    /// The length is not known, so all of the body is held until its end.
    @Test func aStallAtTheBeginningOfAHeldBodyLetsItFollow() throws {
        let played = try Self.play("{ kind: stall, for: 1s, after: 0% }", .untilClose, ["ab", "cd"])
        #expect(played.pieces == ["…", "abcd"])
        #expect(played.isFinished)
        let cut = try Self.play("{ kind: cut, after: 0% }", .untilClose, ["ab", "cd"])
        #expect(cut.pieces == [] && !cut.isFinished)
        let truncated = try Self.play("{ kind: truncate, after: 0% }", .untilClose, ["ab", "cd"])
        #expect(truncated.pieces == [] && truncated.isFinished)
    }

    @Test(arguments: ["", ", after: 2 messages"]) func anAnswerWithoutAWebSocketGetsNoCloseFrame(after: String) throws {
        let played = try Self.play("{ kind: close, code: 1011\(after) }", .length(2), ["ok"])
        #expect(played.pieces == ["ok"] && played.isFinished)
        #expect(played.notes == ["an answer opens no WebSocket, so no close frame ends it"])
    }

    @Test(arguments: [
        ("{ kind: corrupt, after: 1KiB }", "\"corrupt\" inverts one bit, which is drawn from the whole decoded body: remove \"after\""),
        ("{ kind: corrupt, after: 3 events }", "remove \"after\""),
        ("{ kind: corrupt, in: trailers }", "a fault of kind \"corrupt\" is in the body: remove \"in\""),
        ("{ kind: slice, in: trailers }", "a fault of kind \"slice\" is in the body: remove \"in\""),
        ("{ kind: slice, in: head }", "a fault of kind \"slice\" is in the body: remove \"in\""),
        ("{ grpc: UNAVAILABLE, after: 64KiB }", "a fault of kind \"grpc\" comes in place of the answer"),
        ("{ grpc: UNAVAILABLE, in: trailers }", "a fault of kind \"grpc\" comes in place of the answer"),
        ("{ kind: close, code: 1011, after: 64KiB }", "a close frame comes between messages: write for example after: 3 messages"),
        ("{ kind: close, code: 1011, in: trailers }", "a close frame is in no part of an answer: remove \"in\""),
    ]) func aPlaceThatAFaultDoesNotHaveIsRefused(fault: String, reason: String) throws {
        let problem = try RulesText.problem("- fault: \(fault)")
        #expect(problem?.contains(reason) == true, "\(problem ?? "it is read")")
    }

    /// A time of the run is not a place.
    @Test func aFaultWithoutAPlaceMayHaveATime() throws {
        #expect(try RulesText.problem("- fault: { kind: corrupt, after: 30s, in: body }") == nil)
        #expect(try RulesText.problem("- fault: { grpc: UNAVAILABLE, after: 30s }") == nil)
    }
}
