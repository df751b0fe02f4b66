import CassetteModel
import CassettePlayback
import TapeTestSupport
import Testing

@Suite struct RecordedCassetteConnectionsTests {
    private static let chain =
        #", "chain": [{ "sha256": "\#(String(repeating: "a", count: 64))", "subject": "CN=a", "issuer": "CN=b", "notBefore": "2026-11-20T00:00:00Z", "notAfter": "2027-11-20T00:00:00Z" }]"#

    private func interaction(_ second: Int, connection: Int, reused: Bool, remote: String = "192.0.2.1:443") -> String {
        """
            { "id": \(second), "started": "2026-11-21T04:19:0\(second).000000Z",
              "request": { "method": "GET", "url": "https://a/\(second)" }, "response": { "status": 200 },
              "connection": { "id": \(connection), "remote": "\(remote)", "reused": \(reused),
                "tls": { "version": "TLSv1.\(second)", "cipher": "X"\(reused ? "" : Self.chain) } } }
        """
    }

    private func cassette(_ interactions: [String]) throws -> RecordedCassette {
        let folder = try TemporaryFolder()
        let text = "{\n  \"wiretape\": 1,\n  \"interactions\": [\n" + interactions.joined(separator: ",\n") + "\n  ]\n}\n"
        return try RecordedCassette(path: folder.write(Array(text.utf8), to: "a.json"))
    }

    private func opening(_ cassette: RecordedCassette, of index: Int) throws -> (index: Int, tls: TLSDetails)? {
        try cassette.opening(of: #require(cassette.interaction(at: index).connection), before: index)
    }

    @Test func theNearestEarlierOneWithThatNumberAndRemoteOpenedIt() throws {
        let cassette = try self.cassette([
            self.interaction(1, connection: 1, reused: false), self.interaction(2, connection: 1, reused: false),
            self.interaction(3, connection: 2, reused: false), self.interaction(4, connection: 1, reused: false, remote: "192.0.2.2:443"),
            self.interaction(5, connection: 1, reused: true), self.interaction(6, connection: 1, reused: false),
        ])
        let opening = try #require(try self.opening(cassette, of: 4))
        #expect(opening.index == 1)
        #expect(opening.tls.version == "TLSv1.2")
        #expect(opening.tls.chain.map(\.subject) == ["CN=a"])
        #expect(try self.opening(cassette, of: 5) == nil)
    }

    @Test func aConnectionWhoseStartIsNotThereHasNone() throws {
        let cassette = try self.cassette([
            self.interaction(1, connection: 1, reused: true), self.interaction(2, connection: 1, reused: true),
        ])
        #expect(try self.opening(cassette, of: 1) == nil)
    }
}
