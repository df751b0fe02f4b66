import COpenSSL
import Testing
@testable import TapeTLS

@Suite struct LeafStoreTests {
    private let now: Int64 = 1_790_000_000
    private let day: Int64 = 86_400

    private func store(capacity: Int = 8) throws -> LeafStore {
        try LeafStore(authority: CertificateAuthority.make(now: self.now), capacity: capacity)
    }

    @Test func whatWasMintedIsFoundUnderEverySpelling() throws {
        let store = try self.store()
        #expect(store.leaf(host: "a.test", serverName: nil, now: self.now) == nil)
        let leaf = try store.mint(host: "a.test", serverName: "a.test", upstreamNames: ["b.test"], now: self.now)
        #expect(leaf.names.dnsNames == ["a.test", "b.test"])
        #expect(store.leaf(host: "A.Test.", serverName: nil, now: self.now) === leaf)
        #expect(store.leaf(host: "a.test", serverName: "A.TEST", now: self.now) === leaf)
        #expect(store.leaf(host: "a.test", serverName: "c.test", now: self.now) == nil)
        #expect(store.leaf(host: "b.test", serverName: nil, now: self.now) == nil)
    }

    @Test func whatEndsWithinADayOrHasNotBegunIsNotHandedOut() throws {
        let store = try self.store()
        let leaf = try store.mint(host: "a.test", serverName: nil, now: self.now)
        #expect(store.leaf(host: "a.test", serverName: nil, now: leaf.notAfter - self.day - 1) === leaf)
        #expect(store.leaf(host: "a.test", serverName: nil, now: leaf.notAfter - self.day) == nil)
        #expect(store.count == 0)
        try #expect(store.mint(host: "a.test", serverName: nil, now: self.now).notBefore == self.now - 2 * self.day)
        #expect(store.leaf(host: "a.test", serverName: nil, now: self.now - 3 * self.day) == nil)
    }

    @Test func theOneUsedLeastRecentlyGivesWay() throws {
        let store = try self.store(capacity: 3)
        for name in ["a", "b", "c"] { _ = try store.mint(host: name, serverName: nil, now: self.now) }
        #expect(store.leaf(host: "a", serverName: nil, now: self.now) != nil)
        // Minting what is there again makes no room.
        _ = try store.mint(host: "c", serverName: nil, now: self.now)
        #expect(store.count == 3)
        _ = try store.mint(host: "d", serverName: nil, now: self.now)
        #expect(store.count == 3)
        #expect(["a", "b", "c", "d"].map { store.leaf(host: $0, serverName: nil, now: self.now) != nil } == [true, false, true, true])
    }

    @Test func leavesShareAKeyAndCarryTheAuthority() throws {
        let store = try self.store()
        let first = try store.mint(host: "a.test", serverName: nil, now: self.now)
        let second = try store.mint(host: "192.0.2.1", serverName: "b.test", now: self.now)
        #expect(first.certificate.summary.publicKeyDigest == second.certificate.summary.publicKeyDigest)
        #expect(X509_check_private_key(second.certificate.pointer, first.key.pointer) == 1)
        #expect(second.issuers.summaries == [store.authority.certificate])
        #expect(second.names.addresses == [[192, 0, 2, 1]])
        #expect(first.certificate.summary.publicKeyDigest != store.authority.certificate.publicKeyDigest)
    }

    @Test func aLeafOutlivesItsStore() throws {
        var store: LeafStore? = try self.store()
        let leaf = try store?.mint(host: "a.test", serverName: nil, now: self.now)
        store = nil
        #expect(leaf?.issuers.count == 1)
        #expect(try leaf?.key.pem().isEmpty == false)
    }

    @Test func whatIsNoNameIsNotKept() throws {
        let store = try self.store()
        #expect(certificateError { _ = try store.mint(host: "a b", serverName: nil, now: self.now) }?.code == .noName)
        #expect(store.count == 0)
    }
}
