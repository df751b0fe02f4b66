internal import CassetteModel
package import Foundation
package import Wiretape

/// An origin's answer, as bytes on a wire and as a stub's response.
package struct OriginAnswer: Sendable {
    package enum Framing: Sendable {
        /// Content-Length, by default that of the pieces.
        case length(Int? = nil)
        /// One chunk for each piece.
        case chunked
        case untilClose
        /// There cannot be a body.
        case none
    }

    package enum Ending: Sendable {
        /// The connection stays open.
        case complete
        /// The connection is closed after the last piece.
        case cut
        /// Nothing follows.
        case hang
    }

    /// Status and reason of 1xx responses, each with a field.
    package var interim: [(status: String, field: (name: String, value: String))] = []
    /// Status and reason.
    package var status = "200 OK"
    package var fields: [(name: String, value: String)] = []
    package var pieces: [Data] = []
    /// The body without its coding, if it has one: this is what a stub gives.
    package var content: Data?
    package var framing = Framing.length()
    package var trailers: [(name: String, value: String)] = []
    package var ending = Ending.complete

    package init(
        _ status: String = "200 OK", _ fields: [(name: String, value: String)] = [], _ pieces: String..., framing: Framing = .length()
    ) {
        self.status = status
        self.fields = fields
        self.pieces = pieces.map { Data($0.utf8) }
        self.framing = framing
    }

    /// The same answer with a change.
    package func with(_ change: (inout OriginAnswer) -> Void) -> OriginAnswer {
        var answer = self
        change(&answer)
        return answer
    }

    // MARK: On the wire (RFC 9112)

    package var steps: [LoopbackOrigin.Step] {
        var head = self.interim.map { "HTTP/1.1 \($0.status)\r\n\($0.field.name): \($0.field.value)\r\n\r\n" }.joined()
        head += "HTTP/1.1 \(self.status)\r\n"
        for (name, value) in self.framingFields + self.fields { head += "\(name): \(value)\r\n" }
        var bytes = Array("\(head)\r\n".utf8)
        var steps: [LoopbackOrigin.Step] = []
        for piece in self.pieces {
            guard case .chunked = self.framing else {
                bytes += piece
                continue
            }
            bytes += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8)
            steps.append(.send(bytes))
            bytes = []
        }
        if case (.chunked, .complete) = (self.framing, self.ending) {
            bytes += Array(("0\r\n" + self.trailers.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n").utf8)
        }
        steps.append(.send(bytes))
        switch (self.ending, self.framing) {
        case (.complete, .untilClose), (.cut, _): return steps + [.close]
        case (.hang, _): return steps + [.hang]
        case (.complete, _): return steps
        }
    }

    private var framingFields: [(name: String, value: String)] {
        switch self.framing {
        case .length(let size): [("Content-Length", "\(size ?? self.pieces.reduce(0) { $0 + $1.count })")]
        case .chunked: [("Transfer-Encoding", "chunked")]
        case .untilClose: [("Connection", "close")]
        case .none: []
        }
    }

    // MARK: As a stub

    package var stub: StubResponse {
        var stub = StubResponse(
            status: Self.code(self.status), headers: Self.headers(self.framingFields + self.fields),
            chunks: (self.content.map { [$0] } ?? self.pieces).map { StubResponse.Chunk($0) })
        stub.interim = self.interim.map { (Self.code($0.status), Self.headers([$0.field])) }
        if !self.trailers.isEmpty { stub.trailers = Self.headers(self.trailers) }
        switch self.ending {
        case .complete: break
        case .cut: stub.ending = .failure(TransportFailure(.network(.truncated), "the stub ends here"))
        case .hang: stub.ending = .hang
        }
        return stub
    }

    private static func code(_ status: String) -> Int { Int(status.prefix(3)) ?? 0 }

    private static func headers(_ fields: [(name: String, value: String)]) -> HTTPSession.Headers {
        HTTPSession.Headers(fields.map { HTTPSession.Header(name: $0.name, value: $0.value) })
    }
}
