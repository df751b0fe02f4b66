import Synchronization
@testable import TapeTLS
import Testing
import TapeTestSupport

struct PeerPolicyTests {
    @Test func theHostIsValidatedUnlessThePolicySaysOtherwise() {
        #expect(PeerPolicy.defaultEvaluation().validatesHost)
        #expect(!PeerPolicy.defaultEvaluation(validatesHost: false).validatesHost)
        #expect(PeerPolicy.pinnedCertificates([]).validatesHost)
        #expect(!PeerPolicy.pinnedCertificates([], validatesHost: false).validatesHost)
        #expect(PeerPolicy.pinnedPublicKeys([]).validatesHost)
        #expect(!PeerPolicy.pinnedPublicKeys([], validatesHost: false).validatesHost)
    }

    @Test func theTwoThatLookAtNothingDoNotLookAtTheHost() {
        #expect(!PeerPolicy.disabled.validatesHost)
        #expect(!PeerPolicy.custom { _, _ in true }.validatesHost)
    }
}

struct PeerVerifierTests {
    /// A root and an intermediate authority; the second is known only through the first.
    private let folder: TemporaryFolder
    private let root: TestCertificate
    private let middle: TestCertificate

    init() throws {
        self.folder = try TemporaryFolder()
        self.root = try TestCertificate("root", isAuthority: true)
        self.middle = try TestCertificate("middle", issuer: self.root, isAuthority: true)
    }

    private func leaf(for names: [String] = ["example.test"], days: Range<Int64> = -1..<30) throws -> TestCertificate {
        try TestCertificate("leaf", for: names, issuer: self.middle, days: days)
    }

    /// The cause of the failure of a client that trusts the root, or nil if it accepts the server.
    private func cause(
        _ leaf: Leaf, host: String = "example.test", _ policy: PeerPolicy = .defaultEvaluation(), maximum: TLSVersion = .tls13
    ) throws -> TLSFailure.Cause? {
        let client = try TestCertificate.clientContext(trusting: self.root, in: self.folder)
        let pair = try TestAuthority().pair(
            client, TestAuthority.serverContext(maximum: maximum), peer: .example(host: host, policy: policy), leaf: leaf)
        pair.run()
        #expect(pair.isEstablished == (pair.client.failure == nil))
        // A refused peer is notified, and distinguishes it from the end of the connection.
        if pair.client.failure != nil { #expect(pair.server.failure?.cause == .certificateRejected) }
        return pair.client.failure?.cause
    }

    private func cause(
        _ certificate: TestCertificate, host: String = "example.test", _ policy: PeerPolicy = .defaultEvaluation()
    ) throws -> TLSFailure.Cause? {
        try self.cause(certificate.leaf(sending: [self.middle]), host: host, policy)
    }

    // MARK: The default

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aChainToARootIsAccepted(version: TLSVersion) throws {
        #expect(try self.cause(self.leaf().leaf(sending: [self.middle]), maximum: version) == nil)
    }

    @Test func timesAreLookedAt() throws {
        #expect(try self.cause(self.leaf(days: -30 ..< -1)) == .expired)
        #expect(try self.cause(self.leaf(days: 1..<30)) == .notYetValid)
    }

    @Test(arguments: [
        (["example.test"], "example.test", true), (["example.test"], "EXAMPLE.test", true), (["other.test"], "example.test", false),
        (["example.test"], "sub.example.test", false), (["*.example.test"], "a.example.test", true),
        (["*.example.test"], "example.test", false), (["*.example.test"], "a.b.example.test", false),
        (["other.test", "example.test"], "example.test", true), (["127.0.0.1"], "127.0.0.1", true), (["127.0.0.1"], "127.0.0.2", false),
        (["::1"], "::1", true), (["::1"], "0:0:0:0:0:0:0:1", true), (["example.test"], "127.0.0.1", false),
    ])
    func theHostHasToBeAmongTheNames(names: [String], host: String, isAccepted: Bool) throws {
        #expect(try self.cause(self.leaf(for: names), host: host) == (isAccepted ? nil : .nameMismatch))
        #expect(try self.cause(self.leaf(for: names), host: host, .defaultEvaluation(validatesHost: false)) == nil)
        // The same rule where OpenSSL does not apply it.
        let leaf = try self.leaf(for: names)
        #expect(
            try self.cause(leaf, host: host, .pinnedPublicKeys([leaf.keyDigest], validatesChain: false))
                == (isAccepted ? nil : .nameMismatch))
    }

    /// RFC 9525, 6.3: the subject never names a host, whatever the alternative names are, and an address is always an iPAddress.
    @Test(
        arguments: [
            ("example.test", [], nil, "example.test"), ("example.test", ["127.0.0.1"], nil, "example.test"),
            ("example.test", ["other.test"], nil, "example.test"), ("*.example.test", [], nil, "a.example.test"),
            ("127.0.0.1", [], nil, "127.0.0.1"), ("leaf", [], "127.0.0.1", "127.0.0.1"), ("leaf", [], "::1", "::1"),
        ] as [(String, [String], String?, String)])
    func onlyAnAlternativeNameOfTheHostsKindCounts(subject: String, names: [String], dnsName: String?, host: String) throws {
        let leaf = try TestCertificate(subject, for: names, issuer: self.middle, dnsName: dnsName)
        for policy in [
            PeerPolicy.defaultEvaluation(), .pinnedCertificates([leaf.der]), .pinnedCertificates([leaf.der], validatesChain: false),
            .pinnedPublicKeys([leaf.keyDigest]), .pinnedPublicKeys([leaf.keyDigest], validatesChain: false),
        ] {
            #expect(try self.cause(leaf, host: host, policy) == .nameMismatch)
        }
        #expect(try self.cause(leaf, host: host, .defaultEvaluation(validatesHost: false)) == nil)
    }

    /// OpenSSL treats a host with a leading dot as any host below it.
    @Test func aHostWithADotBeforeItIsNoHost() throws {
        let leaf = try self.leaf(for: ["a.example.test"])
        let client = try TestCertificate.clientContext(trusting: self.root, in: self.folder)
        let failure = #expect(throws: TLSFailure.self) {
            _ = TLSEnd(try TLSConnection(client: client, peer: .example(host: ".example.test")))
        }
        #expect(failure?.cause == .nameMismatch)
        #expect(try self.cause(leaf, host: "a.example.test") == nil)
    }

    @Test func aCertificateWithoutANameSaysWhatItHas() throws {
        let client = try TestCertificate.clientContext(trusting: self.root, in: self.folder)
        let leaf = try TestCertificate("example.test", issuer: self.middle).leaf(sending: [self.middle])
        let pair = try TestAuthority().pair(client, TestAuthority.serverContext(), leaf: leaf)
        pair.run()
        #expect(
            pair.client.failure?.message
                == "the certificate names no host: subjectAltName is what counts (RFC 9525), and it has only the subject \"CN=example.test\""
        )
    }

    @Test func aSelfSignedCertificateIsRefused() throws {
        #expect(try self.cause(TestCertificate("example.test", for: ["example.test"]).leaf()) == .selfSigned)
    }

    @Test func anUnknownAuthorityIsRefused() throws {
        let other = try TestCertificate("other", isAuthority: true)
        let leaf = try TestCertificate("leaf", for: ["example.test"], issuer: other)
        #expect(try self.cause(leaf.leaf()) == .unknownAuthority)
    }

    @Test func aMissingIntermediateIsRefused() throws {
        #expect(try self.cause(self.leaf().leaf()) == .unknownAuthority)
    }

    @Test func aLeafThatSignsIsRefused() throws {
        let signer = try self.leaf()
        let leaf = try TestCertificate("leaf", for: ["example.test"], issuer: signer)
        #expect(try self.cause(leaf.leaf(sending: [signer, self.middle])) != nil)
    }

    // MARK: Pinned certificates

    @Test func anyCertificateOfTheChainCanBeThePin() throws {
        let leaf = try self.leaf()
        for pin in [leaf, self.middle, self.root] { #expect(try self.cause(leaf, .pinnedCertificates([pin.der])) == nil) }
    }

    @Test func aPinnedCertificateNeedsNoKnownAuthority() throws {
        let alone = try TestCertificate("alone", for: ["example.test"])
        #expect(try self.cause(alone.leaf(), .pinnedCertificates([alone.der])) == nil)
    }

    @Test func anotherCertificateIsNoPin() throws {
        let other = try TestCertificate("other", isAuthority: true)
        #expect(try self.cause(self.leaf(), .pinnedCertificates([other.der])) == .pinMismatch)
        #expect(try self.cause(self.leaf(), .pinnedCertificates([])) == .pinMismatch)
        #expect(try self.cause(self.leaf(), .pinnedCertificates([other.der], validatesChain: false)) == .pinMismatch)
        #expect(try self.cause(self.leaf(), .pinnedCertificates([], validatesChain: false)) == .pinMismatch)
    }

    @Test func timeAndNameOfAPinnedCertificateCount() throws {
        let expired = try self.leaf(days: -30 ..< -1)
        #expect(try self.cause(expired, .pinnedCertificates([expired.der])) == .expired)
        let other = try self.leaf(for: ["other.test"])
        #expect(try self.cause(other, .pinnedCertificates([other.der])) == .nameMismatch)
        #expect(try self.cause(other, .pinnedCertificates([other.der], validatesHost: false)) == nil)
    }

    @Test func withoutTheChainOnlyNameAndPinCount() throws {
        let expired = try self.leaf(days: -30 ..< -1)
        #expect(try self.cause(expired, .pinnedCertificates([expired.der], validatesChain: false)) == nil)
        // Anyone can send another server's certificate after their own.
        #expect(try self.cause(expired, .pinnedCertificates([self.middle.der], validatesChain: false)) == .pinMismatch)
        #expect(try self.cause(expired, .pinnedPublicKeys([self.middle.keyDigest], validatesChain: false)) == .pinMismatch)
        let other = try self.leaf(for: ["other.test"])
        #expect(try self.cause(other, .pinnedCertificates([other.der], validatesChain: false)) == .nameMismatch)
        #expect(try self.cause(other, .pinnedCertificates([other.der], validatesChain: false, validatesHost: false)) == nil)
    }

    @Test func aDamagedPinDoesNotHarmTheOthers() throws {
        let leaf = try self.leaf()
        for version in [TLSVersion.tls12, .tls13] {
            let sent = try leaf.leaf(sending: [self.middle])
            #expect(try self.cause(sent, .pinnedCertificates([[1, 2, 3], [], leaf.der]), maximum: version) == nil)
            #expect(try self.cause(sent, .pinnedCertificates([[1, 2, 3], []]), maximum: version) == .pinMismatch)
        }
    }

    // MARK: Pinned keys

    @Test func theKeyOfAnyCertificateOfTheChainCanBeThePin() throws {
        let leaf = try self.leaf()
        for pin in [leaf, self.middle, self.root] { #expect(try self.cause(leaf, .pinnedPublicKeys([pin.keyDigest])) == nil) }
        #expect(try self.cause(leaf, .pinnedPublicKeys([[UInt8](repeating: 0, count: 32)])) == .pinMismatch)
        #expect(try self.cause(leaf, .pinnedPublicKeys([])) == .pinMismatch)
    }

    @Test func aPinnedKeyDoesNotReplaceTheChain() throws {
        let alone = try TestCertificate("alone", for: ["example.test"])
        #expect(try self.cause(alone.leaf(), .pinnedPublicKeys([alone.keyDigest])) == .selfSigned)
        let expired = try self.leaf(days: -30 ..< -1)
        #expect(try self.cause(expired, .pinnedPublicKeys([expired.keyDigest])) == .expired)
    }

    @Test func withoutTheChainOnlyNameAndKeyCount() throws {
        let alone = try TestCertificate("alone", for: ["example.test"], days: -30 ..< -1)
        #expect(try self.cause(alone.leaf(), .pinnedPublicKeys([alone.keyDigest], validatesChain: false)) == nil)
        let other = try TestCertificate("other", for: ["other.test"])
        #expect(try self.cause(other.leaf(), .pinnedPublicKeys([other.keyDigest], validatesChain: false)) == .nameMismatch)
        #expect(try self.cause(other.leaf(), .pinnedPublicKeys([other.keyDigest], validatesChain: false, validatesHost: false)) == nil)
        #expect(
            try self.cause(other.leaf(), .pinnedPublicKeys([alone.keyDigest], validatesChain: false, validatesHost: false)) == .pinMismatch)
    }

    // MARK: The rest

    @Test func disabledAcceptsAnything() throws {
        let certificate = try TestCertificate("alone", for: ["other.test"], days: -30 ..< -1)
        #expect(try self.cause(certificate.leaf(), .disabled) == nil)
    }

    @Test func aCustomEvaluationSeesChainAndHostAndDecides() throws {
        let leaf = try self.leaf(for: ["other.test"], days: -30 ..< -1)
        let seen = Mutex<[([[UInt8]], String)]>([])
        for isAccepted in [true, false] {
            let policy = PeerPolicy.custom { chain, host in
                seen.withLock { $0.append((chain, host)) }
                return isAccepted
            }
            #expect(try self.cause(leaf, policy) == (isAccepted ? nil : .refusedByPolicy))
        }
        let calls = seen.withLock { $0 }
        #expect(calls.map(\.0) == [[leaf.der, self.middle.der], [leaf.der, self.middle.der]])
        #expect(calls.map(\.1) == ["example.test", "example.test"])
    }
}
