internal import Testing

@testable internal import TapeExchange

@Suite struct PersistenceTests {
    private func client(_ version: String, _ connection: String?, role: Persistence.Role = .proxy) throws -> Bool {
        let head = try Wire.requestHead("GET / \(version)", connection.map { "Connection: \($0)" } ?? "A: b")
        return Persistence.staysOpen(after: head, role: role)
    }

    private func origin(_ version: String, _ connection: String?, framing: BodyFraming = .length(1), status: Int = 200) throws -> Bool {
        let head = try Wire.responseHead("\(version) \(status) X", connection.map { "Connection: \($0)" } ?? "A: b")
        return Persistence.staysOpen(after: head, framing: framing)
    }

    @Test func clientStaysUnlessItSaysClose() throws {
        #expect(try self.client("HTTP/1.1", nil))
        #expect(try self.client("HTTP/1.1", "keep-alive"))
        #expect(try !self.client("HTTP/1.1", "foo, CLOSE"))
        #expect(try !self.client("HTTP/1.1", "keep-alive, close"))
    }

    @Test func clientOfHTTP10StaysOnlyInsideATunnel() throws {
        #expect(try !self.client("HTTP/1.0", "keep-alive"))
        #expect(try self.client("HTTP/1.0", "Keep-Alive", role: .origin))
        #expect(try !self.client("HTTP/1.0", nil, role: .origin))
    }

    @Test func originStaysUnlessTheBodyNeedsTheClose() throws {
        #expect(try self.origin("HTTP/1.1", nil))
        #expect(try self.origin("HTTP/1.1", nil, framing: .chunked))
        #expect(try self.origin("HTTP/1.1", nil, framing: .none, status: 304))
        #expect(try !self.origin("HTTP/1.1", nil, framing: .untilClose))
        #expect(try !self.origin("HTTP/1.1", "close"))
        #expect(try !self.origin("HTTP/1.1", "upgrade", framing: .none, status: 101))
        #expect(try !self.origin("HTTP/1.0", nil))
        #expect(try self.origin("HTTP/1.0", "keep-alive"))
    }
}
