@testable import TapeBytes
import Testing

@testable import CassetteModel

@Suite struct ConnectionDecoderTests {
    private func decode(_ connection: String) throws(CassetteError) -> ConnectionInfo? {
        try decodeInteraction(
            """
            { "id": 1, "started": "2026-11-21T04:19:28Z", "request": { "method": "GET", "url": "http://a/" },
              "connection": \(connection) }
            """
        ).connection
    }

    private func error(_ tls: String) -> CassetteError? {
        do throws(CassetteError) {
            _ = try self.decode("{ \"id\": 1, \"remote\": \"a\", \"tls\": \(tls) }")
            return nil
        } catch { return error }
    }

    private func certificate(sha256: String = String(repeating: "0", count: 64), notAfter: String = #""2027-11-20T00:00:00Z""#) -> String {
        #"{ "sha256": "\#(sha256)", "subject": "CN=a", "issuer": "CN=b", "notBefore": "2026-11-20T00:00:00Z", "notAfter": \#(notAfter) }"#
    }

    @Test func whatAReaderDoesNotKnowIsKept() throws {
        let connection = try #require(
            try self.decode(#"{ "id": 1, "remote": "a", "tls": { "cipher": "X", "version": "TLSv9", "ech": true }, "quic": 2 }"#))
        #expect(connection.unknown.map(\.name) == ["quic"])
        #expect(
            connection.tls
                == TLSDetails(
                    version: "TLSv9", cipher: "X", unknown: [UnknownMember(name: "ech", json: Array("true".utf8))]))
    }

    @Test func aWrongMemberIsNamed() {
        #expect(
            self.error(#"{ "version": "TLSv1.3" }"#)?.message
                == "'pets.json' line 41: interaction 3: connection.tls.cipher: is missing; correct that line or restore the file from a copy"
        )
        let short = self.certificate(sha256: "00")
        #expect(
            self.error("{ \"version\": \"\", \"cipher\": \"\", \"chain\": [\(short)] }")?.message.contains(
                "connection.tls.chain.sha256: expected 64 lower-case hex digits") == true)
    }

    @Test(arguments: [
        "1", #"{ "version": 1.3, "cipher": "X" }"#, #"{ "version": "", "cipher": "", "alpn": null }"#,
        #"{ "version": "", "cipher": "", "resumed": 1 }"#, #"{ "version": "", "cipher": "", "chain": {} }"#,
        #"{ "version": "", "cipher": "", "chain": [1] }"#, #"{ "version": "", "cipher": "", "chain": [{ "subject": "" }] }"#,
        #"{ "version": "", "version": "", "cipher": "" }"#,
    ])
    func aWrongTypeIsDamage(tls: String) {
        #expect(self.error(tls)?.code == .damaged)
    }

    @Test(arguments: [#""2027""#, "1", #""2027-11-31T00:00:00Z""#])
    func aDateThatIsNoneIsDamage(text: String) {
        let certificate = self.certificate(notAfter: text)
        #expect(self.error("{ \"version\": \"\", \"cipher\": \"\", \"chain\": [\(certificate)] }")?.code == .damaged)
    }

    @Test func aChainHasALimit() {
        func chain(_ count: Int) -> String {
            let certificates = Array(repeating: self.certificate(), count: count).joined(separator: ", ")
            return "{ \"version\": \"\", \"cipher\": \"\", \"chain\": [\(certificates)] }"
        }
        #expect(self.error(chain(16)) == nil)
        #expect(self.error(chain(17))?.code == .tooLarge)
    }
}
