import COpenSSL
@testable import TapeTLS
import Testing
import TapeTestSupport

struct LeafConnectionTests {
    private func sent(_ leaf: Leaf) throws -> [CertificateSummary] {
        let pair = try TestAuthority().pair(peer: .example(policy: .disabled), leaf: leaf)
        pair.run()
        #expect(pair.isEstablished)
        return pair.client.peerCertificates
    }

    @Test func intermediatesAreSentAndTheRootIsNot() throws {
        let root = try TestCertificate("root", isAuthority: true)
        let middle = try TestCertificate("middle", issuer: root, isAuthority: true)
        let leaf = try TestCertificate("leaf", for: ["example.test"], issuer: middle)
        let sent = try self.sent(leaf.leaf(sending: [middle, root]))
        #expect(sent.map(\.subject) == ["CN=leaf", "CN=middle"])
    }

    @Test func aSelfSignedCertificateIsSentItself() throws {
        let leaf = try TestCertificate("alone", for: ["example.test"])
        #expect(try self.sent(leaf.leaf()).map(\.subject) == ["CN=alone"])
    }

    @Test func aKeyOfAnotherCertificateFails() throws {
        let own = try TestCertificate("own", for: ["example.test"])
        let other = try TestCertificate("other", for: ["example.test"])
        let leaf = Leaf(
            names: LeafNames(host: "example.test"), certificate: try Certificate(der: own.der), key: other.key.shared(),
            issuers: try CertificateChain(pem: []))
        var connection = try TLSConnection(server: TestAuthority.serverContext())
        let error = #expect(throws: TLSFailure.self) { try connection.answer(leaf, protocolName: nil) }
        #expect(error?.reasons == ["key values mismatch"])
    }
}

@Suite struct LeafNamesTests {
    @Test func hostComesFirstThenServerNameThenUpstream() {
        let names = LeafNames(
            host: "WWW.Example.test.", serverName: "api.example.test", upstream: ["*.example.test", "www.example.TEST", "10.0.0.1"])
        #expect(names.dnsNames == ["www.example.test", "api.example.test", "*.example.test"])
        #expect(names.addresses == [[10, 0, 0, 1]])
        #expect(names.count == 4)
        #expect(names.first == "www.example.test")
    }

    @Test func literalsAreAddresses() {
        let names = LeafNames(host: "[2001:db8::1]", upstream: ["2001:0db8::0:1", "127.0.0.1"])
        #expect(names.dnsNames.isEmpty)
        #expect(names.addresses == [[0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [127, 0, 0, 1]])
        #expect(names.first == "2001:db8::1")
    }

    @Test(arguments: [
        "", ".", "..", "a..b", ".a", "a b", "a\0b", "a/b", "a:443", "b\u{FC}cher.test", "*", "*.test", "a.*.test", "%61", "::g", "[::1",
    ])
    func invalidHostIsDropped(host: String) {
        #expect(LeafNames(host: host).count == 0)
        #expect(LeafNames(host: host).first == nil)
    }

    @Test func wildcardsAreTakenFromTheUpstreamOnly() {
        #expect(
            LeafNames(host: "a.test", upstream: ["*.test", "*", "*.", "a*.test", "a.*.test", "**.test"]).dnsNames == ["a.test", "*.test"])
    }

    @Test func namesAndLabelsHaveTheLengthsOfDNS() {
        let label = String(repeating: "a", count: 63)
        let longest = "\(label).\(label).\(label).\(label.dropLast(2))"
        #expect(LeafNames(host: longest).dnsNames == [longest])
        #expect(LeafNames(host: longest + "a").count == 0)
        #expect(LeafNames(host: label + "a.test").count == 0)
        #expect(LeafNames(host: "xn--bcher-kva.test").dnsNames == ["xn--bcher-kva.test"])
        #expect(LeafNames(host: "_dmarc.a-b.test").count == 1)
    }

    @Test func atMostAHundred() {
        let names = LeafNames(host: "a.test", serverName: "b.test", upstream: (0..<300).map { "h\($0).test" })
        #expect(names.count == 100)
        #expect(names.dnsNames.last == "h97.test")
    }

    /// Any input gives a set of plain names, and repeating the conversion changes nothing.
    @Test func anyTextsMakePlainNames() {
        var generator = SeededGenerator(seed: 3)
        let alphabet = Array("abZ09-_.*:[]%\0 \u{FC}\u{1F600}")
        func text() -> String {
            String((0..<Int.random(in: 0...12, using: &generator)).compactMap { _ in alphabet.randomElement(using: &generator) })
        }
        for _ in 0..<5000 {
            let upstream = (0..<Int.random(in: 0...5, using: &generator)).map { _ in text() }
            let names = LeafNames(host: text(), serverName: Bool.random(using: &generator) ? text() : nil, upstream: upstream)
            #expect(Set(names.dnsNames).count == names.dnsNames.count)
            for name in names.dnsNames {
                #expect(name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !(0x41...0x5A).contains($0) })
                #expect(CertificateAddress(name) == nil && !name.hasSuffix("."))
            }
            let again = LeafNames(host: "", upstream: names.dnsNames + names.addresses.compactMap { CertificateAddress($0)?.description })
            #expect(again == names)
        }
    }
}

@Suite struct LeafStoreTests {
    private let now: Int64 = 1_790_000_000
    private let day: Int64 = 86_400

    private func store(capacity: Int = 8) throws -> LeafStore {
        try LeafStore(authority: CertificateAuthority.make(now: self.now), capacity: capacity)
    }

    @Test func mintedLeafIsFoundUnderEverySpelling() throws {
        let store = try self.store()
        #expect(store.leaf(host: "a.test", serverName: nil, now: self.now) == nil)
        let leaf = try store.mint(host: "a.test", serverName: "a.test", upstreamNames: ["b.test"], now: self.now)
        #expect(leaf.names.dnsNames == ["a.test", "b.test"])
        #expect(store.leaf(host: "A.Test.", serverName: nil, now: self.now) === leaf)
        #expect(store.leaf(host: "a.test", serverName: "A.TEST", now: self.now) === leaf)
        #expect(store.leaf(host: "a.test", serverName: "c.test", now: self.now) == nil)
        #expect(store.leaf(host: "b.test", serverName: nil, now: self.now) == nil)
    }

    @Test func leafThatEndsWithinADayOrHasNotBegunIsNotUsed() throws {
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
        // Minting an existing leaf evicts nothing.
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

    @Test func leafWithoutAValidNameIsNotKept() throws {
        let store = try self.store()
        #expect(certificateError { _ = try store.mint(host: "a b", serverName: nil, now: self.now) }?.code == .noName)
        #expect(store.count == 0)
    }
}
