internal import CassetteModel
@testable internal import TapeExchange
internal import Testing

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

@Suite struct ConnectionOptionsTests {
    @Test func optionsOfAllLinesCount() {
        let options = ConnectionOptions(HeaderFields(["Connection: Close, a", "X: upgrade", "connection: ,KEEP-alive,,Upgrade"]))
        #expect(options.close && options.keepAlive && options.upgrade)
        #expect(options.nominates(Array("A".utf8)[...]))
        #expect(!options.nominates(Array("x".utf8)[...]))
    }

    @Test func connectionCannotNominateItselfOrFraming() {
        let names = ["connection", "host", "content-length", "transfer-encoding", "content-encoding", "trailer"]
        let options = ConnectionOptions(HeaderFields(["Connection: " + names.joined(separator: ", ")]))
        for name in names { #expect(!options.nominates(Array(name.utf8)[...])) }
    }
}

@Suite struct FieldKindTests {
    @Test func fieldsForOneConnectionAreKnownInAnyCase() {
        for name in ["Keep-Alive", "PROXY-CONNECTION", "proxy-authenticate", "Proxy-Authorization", "Proxy-Authentication-Info"] {
            #expect(FieldKind.of(Array(name.utf8)[...]) == .hopByHop)
        }
        #expect(FieldKind.of(Array("cOnnection".utf8)[...]) == .connection)
        #expect(FieldKind.of(Array("tE".utf8)[...]) == .te)
        #expect(FieldKind.of(Array("Upgrade".utf8)[...]) == .upgrade)
    }

    @Test func namesOfTheSameLengthAreOthers() {
        for length in 0...30 { #expect(FieldKind.of([UInt8](repeating: 120, count: length)[...]) == .endToEnd) }
        for name in ["Via", "Date", "Expires", "Set-Cookie", "Content-MD5", "Authorization", "Cookie"] {
            #expect(FieldKind.of(Array(name.utf8)[...]) == .endToEnd)
        }
    }

    @Test func framingAndRoutingAreTheirOwnKinds() {
        #expect(FieldKind.of(Array("HOST".utf8)[...]) == .host)
        #expect(FieldKind.of(Array("Content-length".utf8)[...]) == .contentLength)
        #expect(FieldKind.of(Array("Transfer-encoding".utf8)[...]) == .transferEncoding)
        #expect(FieldKind.of(Array("Trailer".utf8)[...]) == .trailer)
        #expect(FieldKind.of(Array("Content-Encoding".utf8)[...]) == .contentEncoding)
    }
}
