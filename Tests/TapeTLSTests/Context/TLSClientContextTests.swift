internal import COpenSSL
@testable import TapeTLS
import Testing
import TapeTestSupport

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

    @Test func withoutRootsNoServerIsTrusted() throws {
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

struct TLSSessionCacheTests {
    /// A session that OpenSSL considers resumable has an id.
    private func session(isResumable: Bool = true) throws -> OpaquePointer {
        let session = try #require(SSL_SESSION_new())
        if isResumable { SSL_SESSION_set1_id(session, [1, 2, 3, 4], 4) }
        return session
    }

    private func lent(_ cache: TLSSessionCache, _ key: String) -> OpaquePointer? {
        var result: OpaquePointer?
        cache.withSession(for: key) { result = $0 }
        return result
    }

    @Test func theNewestOfAKeyIsLent() throws {
        let cache = TLSSessionCache()
        cache.store(try self.session(), for: "a")
        let newest = try self.session()
        cache.store(newest, for: "a")
        #expect(cache.count == 1)
        #expect(self.lent(cache, "a") == newest)
        #expect(self.lent(cache, "b") == nil)
    }

    @Test func theKeyUsedLongestAgoGivesWay() throws {
        let cache = TLSSessionCache(capacity: 2)
        cache.store(try self.session(), for: "a")
        cache.store(try self.session(), for: "b")
        _ = self.lent(cache, "a")
        cache.store(try self.session(), for: "c")
        #expect(cache.count == 2)
        #expect(self.lent(cache, "a") != nil)
        #expect(self.lent(cache, "b") == nil)
        #expect(self.lent(cache, "c") != nil)
    }

    @Test func holdsNeverMoreThanItsCapacity() throws {
        let cache = TLSSessionCache(capacity: 3)
        for number in 0..<20 {
            cache.store(try self.session(), for: "\(number)")
            #expect(cache.count == min(number + 1, 3))
        }
        let none = TLSSessionCache(capacity: 0)
        none.store(try self.session(), for: "a")
        #expect(none.count == 0)
    }

    @Test func sessionThatCannotBeResumedIsNotStored() throws {
        let cache = TLSSessionCache()
        cache.store(try self.session(isResumable: false), for: "a")
        #expect(self.lent(cache, "a") == nil)
        #expect(cache.count == 0)
    }

    @Test func removedSessionIsNotLent() throws {
        let cache = TLSSessionCache()
        cache.store(try self.session(), for: "a")
        cache.remove("a")
        cache.remove("a")
        #expect(self.lent(cache, "a") == nil)
        #expect(cache.count == 0)
    }
}
