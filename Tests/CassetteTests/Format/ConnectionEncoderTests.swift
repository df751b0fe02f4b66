import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes

@Suite struct ConnectionEncoderTests {
    private func encoded(_ connection: ConnectionInfo) -> String {
        var writer = JSONWriter()
        ConnectionEncoder.encode(connection, into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func aConnectionWithoutCertificatesIsOneLine() {
        #expect(self.encoded(ConnectionInfo(id: 1, remote: "[::1]:9", isReused: false)) == #"{ "id": 1, "remote": "[::1]:9" }"#)
        let tls = TLSDetails(version: "TLSv1.2", cipher: "X", isResumed: true, unknown: [UnknownMember(name: "ech", json: Array("1".utf8))])
        #expect(
            self.encoded(ConnectionInfo(id: 1, remote: "a", isReused: true, tls: tls))
                == #"{ "id": 1, "remote": "a", "reused": true, "tls": { "version": "TLSv1.2", "cipher": "X", "resumed": true, "ech": 1 } }"#
        )
    }

    @Test func textMadeOnceIsTheTextMadeAnew() {
        let later = GoldenInteractions.details.withoutChain
        let anew = TLSDetails(version: later.version, cipher: later.cipher, alpn: later.alpn, sni: later.sni)
        #expect(anew.text == nil)
        #expect(
            self.encoded(ConnectionInfo(id: 1, remote: "a", isReused: true, tls: later))
                == self.encoded(ConnectionInfo(id: 1, remote: "a", isReused: true, tls: anew)))
    }
}
