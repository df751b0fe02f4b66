internal import TapeBytes
internal import ArgumentParser
internal import CassetteModel

struct CAShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the authority: subject, fingerprint, validity, key, file.")

    @OptionGroup var authority: AuthorityOptions

    func run() throws {
        SignalThread.unblock()
        try TrustError.told { () throws(TrustError) in
            let authority = try self.authority.certificate()
            for line in Self.lines(authority) { Terminal.output.line(line) }
        }
    }

    static func lines(_ authority: AuthorityCertificate) -> [String] {
        [
            "subject      \(VisibleText.line(authority.summary.subject))",
            "fingerprint  SHA-256 \(self.fingerprint(authority.summary.fingerprint))",
            "valid        \(self.date(authority.summary.notBefore)) to \(self.date(authority.summary.notAfter))",
            "key          \(authority.key)",
            "file         \(VisibleText.line(authority.file))",
        ]
    }

    /// As browsers and `openssl x509 -fingerprint` show it.
    private static func fingerprint(_ digest: [UInt8]) -> String {
        digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }

    private static func date(_ seconds: Int64) -> String {
        // Times of a certificate end in the year 9999.
        String(Timestamp(microseconds: seconds * 1_000_000).description.prefix(10))
    }
}
