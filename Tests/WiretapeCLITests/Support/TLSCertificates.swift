import TapeTestSupport

/// Test authorities and certificates of every kind, created by the `openssl` program in their own folder.
///
/// Server certificates are for `localhost`, `origin.test`, `*.wild.test`, 127.0.0.1 and ::1.
final class TLSCertificates: Sendable {
    let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        let end = try ExternalProgram.run("/bin/sh", [Programs.fixture("certificates.sh"), self.folder.path])
        guard end.status == 0 else {
            let log = (try? self.folder.read("openssl.log")) ?? []
            throw TestProblem("the test certificates cannot be made: \(end.errors)\(String(decoding: log, as: UTF8.self))")
        }
    }

    /// The authority that clients should trust.
    var authority: String { self.folder.file("authority.pem") }

    /// Certificates for clients: "client", which origins with mutual TLS trust, and "unknown-client".
    func certificate(_ name: String) -> String { self.folder.file("\(name).pem") }

    func key(_ name: String) -> String { self.folder.file("\(name).key") }
}
