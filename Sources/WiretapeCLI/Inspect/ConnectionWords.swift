internal import TapeBytes
internal import CassetteModel

/// What a page says of an exchange's connection and its TLS.
enum ConnectionWords {
    struct Fact: Equatable {
        var label: String
        var lines: [String]
    }

    /// Half of what people compare by eye; the whole digest stands in the JSON.
    private static let shownDigits = 32

    /// - Parameters:
    ///   - opening: the exchange that opened a reused connection and has its certificates, where one is known.
    ///   - time: when the exchange started, which the certificates' dates are held against.
    static func facts(_ connection: ConnectionInfo, opening: (number: Int, tls: TLSDetails)?, at time: Timestamp) -> [Fact] {
        var line = "\(connection.id) to \(connection.remote)"
        if connection.isReused { line += ", reused" }
        if let opening { line += ", opened by exchange \(opening.number)" }
        guard let tls = connection.tls else { return [Fact(label: "connection", lines: [line])] }
        let chain = tls.chain.isEmpty ? opening?.tls.chain ?? [] : tls.chain
        return [Fact(label: "connection", lines: [line]), Fact(label: "tls", lines: self.lines(tls))]
            + chain.map { Fact(label: "certificate", lines: self.lines($0, at: time)) }
    }

    private static func lines(_ tls: TLSDetails) -> [String] {
        let names = [tls.sni.map { "server name \($0)" }, tls.alpn.map { "protocol \($0)" }].compactMap { $0 }
        return ["\(tls.version), \(tls.cipher)\(tls.isResumed ? ", resumed" : "")"] + (names.isEmpty ? [] : [names.joined(separator: ", ")])
    }

    private static func lines(_ certificate: RecordedCertificate, at time: Timestamp) -> [String] {
        var dates = "valid from \(self.day(certificate.notBefore)) to \(self.day(certificate.notAfter))"
        if time > certificate.notAfter { dates += ", expired by then" }
        if time < certificate.notBefore { dates += ", not valid yet then" }
        let issuer = certificate.issuer == certificate.subject ? "itself" : certificate.issuer
        return [
            certificate.subject.isEmpty ? "without a subject" : certificate.subject, "issued by \(issuer)", dates,
            "sha256 \(certificate.sha256.prefix(self.shownDigits))…",
        ]
    }

    private static func day(_ time: Timestamp) -> Substring { time.formatted.prefix(10) }
}
