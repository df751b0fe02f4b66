internal import COpenSSL
import Testing

@testable import TapeTLS

struct TLSSessionCacheTests {
    /// A session that OpenSSL takes for one to resume with: it has an id.
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

    @Test func whatCannotBeResumedIsForgotten() throws {
        let cache = TLSSessionCache()
        cache.store(try self.session(isResumable: false), for: "a")
        #expect(self.lent(cache, "a") == nil)
        #expect(cache.count == 0)
    }

    @Test func whatIsRemovedIsNotLent() throws {
        let cache = TLSSessionCache()
        cache.store(try self.session(), for: "a")
        cache.remove("a")
        cache.remove("a")
        #expect(self.lent(cache, "a") == nil)
        #expect(cache.count == 0)
    }
}
