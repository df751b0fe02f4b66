import Foundation
import Testing

@testable import Wiretape

@Suite struct AnswerAssemblyTests {
    private static let url = URL(fileURLWithPath: "/")
    private static let head = TransportEvent.head(HTTPResponse(url: url, status: 200))
    private static func piece(_ text: String) -> TransportEvent { .chunk(Data(text.utf8)) }

    /// What comes, what is to be called in the end where the body is joined, and what where it is not.
    private static let table: [(events: [TransportEvent], joined: [String], pieces: [String])] = [
        ([head, .end], ["200", "finished"], ["200", "finished"]),
        ([head, piece("a"), .end], ["200", "\"a\"", "finished"], ["200", "\"a\"", "finished"]),
        (
            [head, piece("a"), piece(""), piece("b"), piece("c"), .end], ["200", "\"abc\"", "finished"],
            ["200", "\"a\"", "\"b\"", "\"c\"", "finished"]
        ),
        (
            [head, piece("a"), piece("b"), .failed(.cancelled("cut")), .end], ["200", "\"ab\"", "failed: cut"],
            ["200", "\"a\"", "\"b\"", "failed: cut"]
        ),
        ([.failed(.cancelled("refused")), head, .end], ["failed: refused"], ["failed: refused"]),
        (
            [.interim(status: 103, headers: HTTPHeaders()), head, .sent(1, of: 2), .trailers(HTTPHeaders()), .end], ["200", "finished"],
            ["200", "finished"]
        ),
        ([head, head, .end, .end], ["200", "finished"], ["200", "finished"]),
        (
            [.end], ["failed: the response has no head: check the transport that produced it"],
            ["failed: the response has no head: check the transport that produced it"]
        ),
        (
            [piece("lost"), .end], ["failed: the response has no head: check the transport that produced it"],
            ["failed: the response has no head: check the transport that produced it"]
        ),
    ]

    @Test(arguments: table.indices) func aWholeAnswer(index: Int) {
        let row = Self.table[index]
        var joined = AnswerAssembly()
        for event in row.events { joined.received(event) }
        #expect(joined.isReady && joined.isEnded)
        #expect(joined.take().map(\.text) == row.joined)
        #expect(joined.take().isEmpty)

        var pieces = AnswerAssembly()
        pieces.joinsBody = false
        var calls: [String] = []
        for event in row.events {
            pieces.received(event)
            calls += pieces.take().map(\.text)
        }
        #expect(calls == row.pieces)
    }

    @Test func aJoinedBodyWaitsForItsEnd() {
        var answer = AnswerAssembly()
        answer.received(Self.head)
        answer.received(Self.piece("a"))
        #expect(!answer.isReady)
        #expect(answer.take().isEmpty)
        #expect(!answer.hasPieces)
        answer.received(Self.piece("b"))
        #expect(answer.hasPieces)
    }

    @Test func theLastCallIsTheOneThatEnds() {
        var answer = AnswerAssembly()
        for event in [Self.head, Self.piece("a"), .end] { answer.received(event) }
        #expect(answer.take().map(\.isLast) == [false, false, true])
        #expect(AnswerAssembly.Call.failed(.cancelled()).isLast)
    }
}
