internal import COpenSSL
import Testing

@testable import TapeTLS

struct TLSClientContextTests {
    @Test func aFileWithoutCertificatesIsNamed() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array("nothing".utf8), to: "empty.pem")
        for path in [path, folder.file("missing.pem")] {
            var failure: TLSFailure?
            do { _ = try TLSClientContext(trustsSystem: false, roots: [path]) } catch { failure = error }
            #expect(failure?.message.hasPrefix("\"\(path)\" ") == true)
            #expect(failure?.reasons.isEmpty == false)
            #expect(ERR_peek_error() == 0)
        }
    }

    @Test func eachFileOfRootsIsTrusted() throws {
        let folder = try TemporaryFolder()
        let (first, second) = (try TestCertificate("first", isAuthority: true), try TestCertificate("second", isAuthority: true))
        let roots = try [folder.write(first.certificate.pem(), to: "1.pem"), folder.write(second.certificate.pem(), to: "2.pem")]
        let context = try TLSClientContext(trustsSystem: false, roots: roots)
        for root in [first, second] {
            let leaf = try TestCertificate("leaf", for: ["example.test"], issuer: root).leaf()
            let pair = try TestAuthority().pair(context, TestAuthority.serverContext(), leaf: leaf)
            pair.run()
            #expect(pair.isEstablished)
        }
    }

    @Test func withoutRootsNobodyIsTrusted() throws {
        let pair = try TestAuthority().pair(TLSClientContext(trustsSystem: false), TestAuthority.serverContext())
        pair.run()
        #expect(pair.client.failure?.cause == .unknownAuthority)
    }

    @Test(arguments: [true, false])
    func theErrorQueueIsEmptyAfter(trustsSystem: Bool) throws {
        _ = try TLSClientContext(trustsSystem: trustsSystem)
        #expect(ERR_peek_error() == 0)
    }

    @Test func aConnectionOutlivesItsContext() throws {
        let authority = try TestAuthority()
        var client: TLSEnd?
        var server: TLSEnd?
        do {
            let folder = try TemporaryFolder()
            let context = try authority.clientContext(keyLog: KeyLog(path: folder.file("log")))
            client = TLSEnd(try TLSConnection(client: context, peer: .example))
            server = TLSEnd(try TLSConnection(server: TestAuthority.serverContext()), answer: TLSEnd.Answer(leaf: try authority.leaf()))
        }
        let pair = TLSPair(client: try #require(client), server: try #require(server))
        pair.run()
        #expect(pair.isEstablished)
    }
}
