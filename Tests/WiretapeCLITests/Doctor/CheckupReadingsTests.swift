import ClientCapabilities
import TapeProxy
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct CheckupReadingsSystemTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func take(_ environment: [String: String] = [:]) throws -> CheckupReadings {
        try CheckupReadings.take(
            AuthorityOptions.parse(["--ca-dir", self.folder.file("ca")]), environment: environment)
    }

    @Test func nothingIsMade() throws {
        let readings = try self.take()
        #expect(readings.authority == .missing && readings.facts.trustsAuthority == nil)
        #expect(try self.folder.names(in: ".") == [])
    }

    @Test func theAuthorityIsFoundAlsoInTheFilesOfVariables() throws {
        let made = try MadeAuthority(in: self.folder.file("ca"))
        let other = try self.folder.write("".utf8, to: "other.pem")
        let readings = try self.take([
            "SSL_CERT_FILE": made.certificateFile, "CURL_CA_BUNDLE": other, "PIP_CERT": self.folder.file("none"), "AWS_CA_BUNDLE": "",
        ])
        guard case .present(let until, nil) = readings.authority else {
            Issue.record("\(readings.authority)")
            return
        }
        #expect(until > MadeAuthority.now)
        #expect(readings.bundles.map(\.variable) == ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "PIP_CERT"])
        #expect(readings.bundles.map(\.hasAuthority) == [true, false, nil])
    }

    @Test func aFileThatIsNoCertificateIsUnreadable() throws {
        _ = try MadeAuthority(in: self.folder.file("ca"))
        try self.folder.write("junk".utf8, to: "ca/ca-cert.pem")
        guard case .unreadable(let message) = try self.take().authority else {
            Issue.record("it was read")
            return
        }
        #expect(message.contains("ca-cert.pem"))
    }

    @Test func aProxyOfThisMachineIsLookedAt() throws {
        let (origin, port) = try Python.origin("leading_origin.py")
        defer { origin.stop() }
        #expect(try self.take(["https_proxy": "http://u:p@127.0.0.1:\(port)/"]).proxyListens == true)
        #expect(try self.take(["http_proxy": "http://192.0.2.1:9"]).proxyListens == nil)
        #expect(try self.take(["NO_PROXY": "a", "http_proxy": "x", "HOME": "/"]).variables == ["NO_PROXY": "a", "http_proxy": "x"])
    }

    @Test(arguments: [
        ("Swift version 6.3.1 (swift-6.3.1-RELEASE)\n", "6.3.1"),
        ("swift-driver version: 1.127.14.1 Apple Swift version 6.2.3 (swiftlang-6.2.3.3.21)", "6.2.3"), ("6.0", "6.0"),
        ("Swift version", "Swift version"),
    ])
    func theReleaseFollowsItsName(text: String, release: String) { #expect(CheckupReadings.release(text) == release) }
}

@Suite struct LocalPortTests {
    @Test func listenerOnAPortIsDetected() throws {
        let (origin, port) = try Python.origin("leading_origin.py")
        for host in ["127.0.0.1", "localhost"] { #expect(LocalPort.isOpen(ListenAddress(host: host, port: port)) == true) }
        origin.stop()
        #expect(LocalPort.isOpen(ListenAddress(host: "127.0.0.1", port: port)) == false)
    }

    @Test(arguments: ["192.0.2.1", "example.test", "::1", "127.x"]) func othersAreNotAsked(host: String) {
        #expect(LocalPort.isOpen(ListenAddress(host: host, port: 1)) == nil)
    }
}
