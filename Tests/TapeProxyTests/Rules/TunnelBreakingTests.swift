import NIOCore
import TapeBytes
import Testing
import TrafficRules

@testable import TapeProxy

/// Faults within WebSockets, item by item.
@Suite struct TunnelBreakingTests {
    private static let close: [UInt8] = [0x88, 0x02, 0x03, 0xe8]

    /// A message of one frame without a mask. Its payload looks like heads of frames.
    private static func message(_ size: Int) -> [UInt8] {
        [0x82, 127] + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) } + Array(repeating: 0x81, count: size)
    }

    private struct Played {
        /// What the client gets.
        var bytes: [UInt8] = []
        /// How many bytes came before each stall.
        var stalls: [Int] = []
        var isCut = false
        var notes: [String] = []
    }

    /// - Parameters:
    ///   - piece: bytes that come at once.
    ///   - ends: the server ends the connection.
    private static func play(_ fault: String, _ bytes: [UInt8], piece: Int = .max, ends: Bool = false) throws -> Played {
        let node = RuleNode(try JSONDocument(Array("[{\"name\": \"fault\", \"fault\": \(fault)}]".utf8)).root)
        let engine = RuleEngine(try TrafficRules([RuleList(node: node, file: "rules", folder: nil)]))
        let plan = try #require(engine.plan(for: RequestFacts(method: "GET", url: "ws://h/a", opensWebSocket: true), now: .zero))
        var breaking = TunnelBreaking(try #require(plan.fault), notes: RuleNotes(engine, plan))
        var played = Played()
        func take(_ items: [AnswerItem]) {
            for item in items where !played.isCut {
                switch item {
                case .data(let bytes): played.bytes += bytes
                case .stall: played.stalls.append(played.bytes.count)
                case .end: played.isCut = true
                case .interim, .head, .local, .raw, .flush, .closeOutput: break
                }
            }
        }
        take(breaking.opened())
        var start = 0
        while start < bytes.count {
            let end = piece > bytes.count - start ? bytes.count : start + piece
            take(breaking.put(ByteBuffer(bytes: bytes[start..<end])))
            start = end
        }
        if ends { take(breaking.ended()) }
        played.notes = engine.report().flatMap(\.notes)
        return played
    }

    private static let pieces = [65_536, 1_000_003, 1 << 20, 1 << 21, Int.max]

    @Test(arguments: Self.pieces) func aFaultAfterLongMessagesComesAtTheirEnd(piece: Int) throws {
        let messages = [3_000_000, 1, 1_500_000, 1_200_000].map(Self.message)
        let whole = messages.flatMap { $0 }
        let first = messages[0].count + messages[1].count
        let cut = try Self.play(#"{"kind": "cut", "after": "3 messages"}"#, whole, piece: piece)
        #expect(cut.isCut && cut.bytes.count == first + messages[2].count)
        let stall = try Self.play(#"{"kind": "stall", "for": "1s", "after": "3 messages"}"#, whole, piece: piece)
        #expect(stall.stalls == [first + messages[2].count])
        let drop = try Self.play(#"{"kind": "drop", "after": "2 messages"}"#, whole, piece: piece)
        // Megabytes, which a failing test would print.
        let isSame = [whole.starts(with: cut.bytes), stall.bytes == whole, drop.bytes == Array(whole[..<first] + messages[3])]
        #expect(isSame == [true, true, true])
        #expect(cut.notes + stall.notes + drop.notes == [])
    }

    @Test(arguments: Self.pieces) func aMessageComesAfterALongOne(piece: Int) throws {
        let messages = [1, 2_000_000, 1].map(Self.message)
        let late = try Self.play(#"{"kind": "reorder"}"#, messages.flatMap { $0 }, piece: piece)
        let isSame = late.bytes == messages[1] + messages[0] + messages[2]
        #expect(isSame)
        #expect(late.notes == [])
    }

    @Test(arguments: Self.pieces, ["repeat", "reorder"]) func aMessageThatIsTooLongToHoldPassesWithANote(piece: Int, kind: String) throws {
        let whole = [1, 2_000_000, 1].map(Self.message).flatMap { $0 }
        let played = try Self.play("{\"kind\": \"\(kind)\", \"after\": \"1 messages\"}", whole, piece: piece)
        let isSame = played.bytes == whole
        #expect(isSame)
        #expect(played.notes == ["a message has more than 1 MiB, and the fault needs all of it"])
    }

    @Test(arguments: ["cut", "drop", "repeat", "reset"], [true, false]) func aFaultThatNeverComesIsReported(kind: String, closes: Bool)
        throws
    {
        let bytes = Self.message(1) + (closes ? Self.close : [])
        let played = try Self.play("{\"kind\": \"\(kind)\", \"after\": \"2 messages\"}", bytes, ends: true)
        #expect(played.bytes == bytes && !played.isCut)
        #expect(played.notes == ["the WebSocket ends before the fault"])
        let after = try Self.play("{\"kind\": \"cut\", \"after\": \"1KiB\"}", bytes, ends: true)
        #expect(after.bytes == bytes && after.notes == ["the WebSocket ends before the fault"])
    }

    @Test func whatIsHeldBackComesAtTheEnd() throws {
        let late = try Self.play(#"{"kind": "reorder"}"#, Self.message(1) + [0x81], ends: true)
        #expect(late.bytes == Self.message(1) + [0x81])
        #expect(late.notes == ["no message follows the one that was to come later"])
        let part = try Self.play(#"{"kind": "drop", "after": "2 messages"}"#, Self.message(1) + [0x81, 0x05, 0x6d], ends: true)
        #expect(part.bytes == Self.message(1) + [0x81, 0x05, 0x6d])
    }
}
