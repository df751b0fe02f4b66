import Foundation
import TapeProxy
@testable import TapeTLS
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct TLSOptionsTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private var caDir: [String] { ["--ca-dir", self.folder.file("ca")] }

    @Test func theAuthorityIsCreatedOnFirstUseAndReportedOnce() throws {
        let options = try TLSOptions.parse(self.caDir)
        var notices: [String] = []
        let first = try self.settings(options, [:]) { notices.append($0) }
        #expect(notices.count == 1 && notices[0].contains(self.folder.file("ca/ca-cert.pem")), "\(notices)")
        let second = try self.settings(options, [:]) { notices.append($0) }
        #expect(notices.count == 1)
        let (one, other) = try (Self.loaded(first), Self.loaded(second))
        #expect(one.authority.certificate == other.authority.certificate)
        #expect(try one.authority.keyPEM() == other.authority.keyPEM())
        #expect(first.clientMinimum == .tls12 && first.keyLog == nil && first.passthrough == [])
    }

    @Test func theRunsOwnAuthorityCannotBeTrustedPermanently() throws {
        let options = try TLSOptions.parse([])
        let place = try options.authority.place(environment: ["HOME": "/dev/null", "TMPDIR": self.folder.path])
        defer { place.temporary?.remove() }
        var notices: [String] = []
        let settings = try options.settings(in: place, upstream: nil, environment: [:]) { notices.append($0) }
        #expect(notices.count == 1 && notices == [place.notice], "\(notices)")
        #expect(try options.certificate(in: place).pem == Self.loaded(settings).authority.certificatePEM())
    }

    @Test func aGivenAuthorityIsUsedWithItsIssuers() throws {
        let made = try MadeAuthority(in: self.folder.file("company"))
        let root = try MadeAuthority(in: self.folder.file("root"))
        let chain = try self.folder.write(made.pem + root.pem, to: "chain.pem")
        let options = try TLSOptions.parse(["--ca-cert", chain, "--ca-key", made.keyFile] + self.caDir)
        var notices: [String] = []
        let settings = try self.settings(options, [:]) { notices.append($0) }
        let loaded = try Self.loaded(settings)
        let count = loaded.authority.issuers().count
        #expect(count == 2 && loaded.authority.certificatePEM() == made.pem && notices == [])
        #expect(!self.folder.exists("ca"))
    }

    private static func loaded(_ settings: TLSSettings) throws -> LoadedAuthority {
        guard case .loaded(let loaded) = settings.authority else { throw TestProblem("the authority was not loaded") }
        return loaded
    }

    private func settings(_ options: TLSOptions, _ environment: [String: String], notice: (String) -> Void) throws -> TLSSettings {
        try options.settings(in: options.authority.place(), upstream: nil, environment: environment, notice: notice)
    }

    @Test func certificateAndKeyMustBelongTogether() throws {
        let one = try MadeAuthority(in: self.folder.file("one"))
        let other = try MadeAuthority(in: self.folder.file("other"))
        let options = try TLSOptions.parse(["--ca-cert", one.certificateFile, "--ca-key", other.keyFile])
        #expect(trustProblem { _ = try self.settings(options, [:]) { _ in } }?.contains(one.certificateFile) == true)
        #expect(throws: (any Error).self) { try TLSOptions.parse(["--ca-cert", one.certificateFile]) }
        #expect(throws: (any Error).self) { try TLSOptions.parse(["--ca-key", one.keyFile]) }
    }

    @Test func aKeyThatOthersCanReadIsReported() throws {
        let made = try MadeAuthority(in: self.folder.file("ca"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: made.keyFile)
        var notices: [String] = []
        let options = try TLSOptions.parse(self.caDir)
        _ = try self.settings(options, [:]) { notices.append($0) }
        #expect(notices.count == 1 && notices[0].contains("chmod 600"), "\(notices)")
    }

    @Test func theKeyLogIsWhereTheEnvironmentSays() throws {
        let options = try TLSOptions.parse(self.caDir)
        _ = try self.settings(options, [:]) { _ in }
        let settings = try self.settings(options, ["SSLKEYLOGFILE": self.folder.file("keys")]) {
            Issue.record("\($0)")
        }
        #expect(settings.keyLog != nil)
        var notices: [String] = []
        let path = self.folder.file("none/keys")
        #expect(try self.settings(options, ["SSLKEYLOGFILE": path]) { notices.append($0) }.keyLog == nil)
        #expect(notices.count == 1 && notices[0].contains("\"\(path)\""))
        #expect(try self.settings(options, ["SSLKEYLOGFILE": ""]) { notices.append($0) }.keyLog == nil)
        #expect(notices.count == 1)
    }

    @Test(arguments: TLSVersion.allCases) func eachVersionCanBeTheLowest(version: TLSVersion) throws {
        #expect(try TLSOptions.parse(["--tls-min", version.rawValue]).tlsMin == version)
    }

    @Test(arguments: TrustMeans.allCases) func theMeansAreNamed(means: TrustMeans) throws {
        guard Self.isLinux || means != .namespace else { return }
        #expect(try TrustOptions.parse(["--trust", means.rawValue]).trust == means)
    }

    #if os(Linux)
    private static let isLinux = true
    #else
    private static let isLinux = false
    #endif

    @Test func aNamespaceIsForAProgram() throws {
        #expect(try TrustOptions.parse([]).trust == .auto)
        #expect(throws: (any Error).self) { try TrustOptions.parse(["--trust", "me"]) }
        #if os(Linux)
        let options = try TrustOptions.parse(["--trust", "namespace"])
        #expect(throws: (any Error).self) { try options.validate(with: []) }
        #expect(throws: Never.self) { try options.validate(with: ["true"]) }
        #else
        #expect(throws: (any Error).self) { try TrustOptions.parse(["--trust", "namespace"]) }
        #endif
        #expect(throws: Never.self) { try TrustOptions.parse([]).validate(with: []) }
    }

    @Test(arguments: [["--tls-min", "1.4"], ["--tls-min", "TLSv1.2"], ["--ca-key", "x"], ["--pin", "a=b"], ["--passthrough", "*"]])
    func wrongUsageOfAReplayIs64(_ options: [String]) throws {
        #expect(try Wiretape.run(["replay", "x.json"] + options).status == 64)
    }
}
