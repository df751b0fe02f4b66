internal import Testing

@testable internal import TapeExchange

@Suite struct HostRuleTests {
    private func check(_ target: String, _ version: String, _ lines: [String]) throws -> Authority? {
        let wire = (["GET \(target) \(version)"] + lines).joined(separator: "\r\n") + "\r\n\r\n"
        guard let head = try Wire.request(wire)?.head else { throw Wire.Incomplete() }
        return try HostRule.check(head, target: RequestTarget(head))
    }

    @Test func oneHostFieldIsTaken() throws {
        #expect(try self.check("/", "HTTP/1.1", ["HOST:  A:81 "]) == Authority(Array("a:81".utf8)[...]))
    }

    @Test func onlyHTTP10MayLeaveHostOut() throws {
        #expect(try self.check("/", "HTTP/1.0", []) == nil)
        #expect(throws: MessageError.self) { try self.check("/", "HTTP/1.1", []) }
        #expect(throws: MessageError.self) { try self.check("http://a/", "HTTP/1.1", []) }
    }

    @Test func emptyHostMattersOnlyWhereTheTargetNamesNone() throws {
        #expect(try self.check("http://a/", "HTTP/1.1", ["Host:"]) == nil)
        #expect(throws: MessageError.self) { try self.check("/", "HTTP/1.1", ["Host:"]) }
    }

    @Test(arguments: ["a b", "a, b", "u@a", "a:0", "a:b", "http://a", "a/b", "a\tb", "[::1", "a:80:80", "a\u{FC}"])
    func malformedHostIsRefusedEvenBesideAnAbsoluteTarget(_ value: String) throws {
        for target in ["/", "http://a/"] {
            let error = #expect(throws: MessageError.self) { try self.check(target, "HTTP/1.1", ["Host: \(value)"]) }
            #expect(error?.status == 400)
        }
    }

    @Test func severalHostFieldsAreRefused() {
        #expect(throws: MessageError.self) { try self.check("/", "HTTP/1.1", ["Host: a", "host: a"]) }
        #expect(throws: MessageError.self) { try self.check("/", "HTTP/1.0", ["Host: a", "host: a"]) }
    }
}
