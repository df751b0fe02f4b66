internal import COpenSSL
import Foundation
@testable import TapeTLS
import Testing
import TapeTestSupport

struct ContextSettingsTests {
    private func made<R>(_ minimum: TLSVersion, _ body: (OpaquePointer) -> R) throws -> R {
        let context = try ContextSettings.make(TLS_method(), minimum: minimum, keyLog: nil)
        defer { SSL_CTX_free(context) }
        return body(context)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func renegotiationAndCompressionAreOff(minimum: TLSVersion) throws {
        let options = try self.made(minimum) { SSL_CTX_get_options($0) }
        // SSL_OP_NO_RENEGOTIATION and SSL_OP_NO_COMPRESSION are macros with a cast.
        #expect(options & (1 << 30) != 0)
        #expect(options & (1 << 17) != 0)
    }

    @Test func theLevelOfSecurityIsLoweredForDeprecatedVersionsAlone() throws {
        #expect(try self.made(.tls10) { SSL_CTX_get_security_level($0) } == 0)
        #expect(try self.made(.tls11) { SSL_CTX_get_security_level($0) } == 0)
        #expect(try self.made(.tls12) { SSL_CTX_get_security_level($0) } > 0)
        #expect(try self.made(.tls13) { SSL_CTX_get_security_level($0) } > 0)
    }

    @Test(arguments: TLSVersion.allCases)
    func theErrorQueueIsEmptyAfter(minimum: TLSVersion) throws {
        try self.made(minimum) { _ in #expect(ERR_peek_error() == 0) }
    }

    @Test func anInvalidMethodFails() {
        let error = #expect(throws: TLSFailure.self) { _ = try ContextSettings.make(nil, minimum: .tls12, keyLog: nil) }
        #expect(error?.reasons.isEmpty == false)
        #expect(ERR_peek_error() == 0)
    }
}

struct KeyLogTests {
    private func lines(_ folder: TemporaryFolder, _ name: String) throws -> [[Substring]] {
        String(decoding: try folder.read(name), as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
    }

    private func handshake(_ maximum: TLSVersion, client: KeyLog?, server: KeyLog?) throws {
        let authority = try TestAuthority()
        let pair = try authority.pair(
            authority.clientContext(maximum: maximum, keyLog: client), TestAuthority.serverContext(keyLog: server))
        pair.run()
        #expect(pair.isEstablished)
    }

    /// The label, the client random and the secret, all with the lengths that Wireshark expects.
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func bothEndsLogTheSameSecretsInTheFormatOfNSS(version: TLSVersion) throws {
        let folder = try TemporaryFolder()
        try self.handshake(version, client: KeyLog(path: folder.file("client")), server: KeyLog(path: folder.file("server")))
        let client = try self.lines(folder, "client")
        #expect(Set(client) == Set(try self.lines(folder, "server")))
        let labels: Set<Substring> =
            version == .tls12
            ? ["CLIENT_RANDOM"]
            : [
                "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0",
                "EXPORTER_SECRET",
            ]
        #expect(Set(client.compactMap(\.first)) == labels)
        for line in client {
            #expect(line.count == 3)
            #expect(line[1].count == 64)
            // A master secret of TLS 1.2 has 48 bytes; one of TLS 1.3 has as many as the cipher's SHA-256.
            #expect(line[2].count == (version == .tls12 ? 96 : 64))
            #expect((line[1] + line[2]).allSatisfy { $0.isHexDigit })
        }
    }

    @Test func onlyItsOwnerMayReadIt() throws {
        let folder = try TemporaryFolder()
        _ = try #require(KeyLog(path: folder.file("log")))
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("log"))[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
    }

    @Test func existingKeyLogIsAppendedTo() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("# before\n".utf8), to: "log")
        let log = try #require(KeyLog(path: folder.file("log")))
        log.write("a b c")
        let other = try #require(KeyLog(path: folder.file("log")))
        other.write("d e f")
        log.write("g h i")
        #expect(String(decoding: try folder.read("log"), as: UTF8.self) == "# before\na b c\nd e f\ng h i\n")
    }

    @Test func aFileThatCannotBeOpenedGivesNone() throws {
        let folder = try TemporaryFolder()
        #expect(KeyLog(path: folder.file("no/such/folder")) == nil)
        #expect(KeyLog(path: folder.path) == nil)
    }
}

struct TLSVersionTests {
    @Test func versionsHaveTheNumbersOfTheWire() {
        #expect(TLSVersion.allCases.map(\.number) == [0x0301, 0x0302, 0x0303, 0x0304])
    }

    @Test func versionsAreOrderedByAge() {
        #expect(TLSVersion.allCases.shuffled().sorted() == [.tls10, .tls11, .tls12, .tls13])
    }

    @Test func versionsBelow12AreDeprecated() {
        #expect(TLSVersion.allCases.filter(\.isDeprecated) == [.tls10, .tls11])
    }

    @Test func versionsAreReadAsPeopleWriteThem() {
        #expect(TLSVersion(rawValue: "1.3") == .tls13)
        #expect(TLSVersion(rawValue: "3.0") == nil)
    }
}
