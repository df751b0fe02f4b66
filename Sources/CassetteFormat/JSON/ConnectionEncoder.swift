public import CassetteModel
internal import TapeBytes

/// Writes the `connection` member's value: on one line, or on several where it has certificates.
package enum ConnectionEncoder {
    static func encode(_ connection: ConnectionInfo, into writer: inout JSONWriter) {
        let hasChain = connection.tls.map { !$0.chain.isEmpty } ?? false
        writer.beginObject(hasChain ? .lines : .inline)
        writer.member("id")
        writer.integer(connection.id)
        writer.member("remote")
        writer.string(connection.remote)
        if connection.isReused {
            writer.member("reused")
            writer.bool(true)
        }
        if let tls = connection.tls {
            writer.member("tls")
            self.encode(tls, into: &writer)
        }
        writer.unknown(connection.unknown)
        writer.endObject()
    }

    /// The value of a `tls` member without certificates, which is the same at any depth.
    package static func text(of tls: TLSDetails) -> [UInt8] {
        var writer = JSONWriter(reserving: 256)
        self.encode(tls, into: &writer)
        return writer.bytes
    }

    static func encode(_ tls: TLSDetails, into writer: inout JSONWriter) {
        if let text = tls.text { return writer.raw(text) }
        writer.beginObject(tls.chain.isEmpty ? .inline : .lines)
        writer.member("version")
        writer.string(tls.version)
        writer.member("cipher")
        writer.string(tls.cipher)
        if let alpn = tls.alpn {
            writer.member("alpn")
            writer.string(alpn)
        }
        if let sni = tls.sni {
            writer.member("sni")
            writer.string(sni)
        }
        if tls.isResumed {
            writer.member("resumed")
            writer.bool(true)
        }
        if !tls.chain.isEmpty {
            writer.member("chain")
            writer.beginArray(.lines)
            for certificate in tls.chain { self.certificate(certificate, &writer) }
            writer.endArray()
        }
        writer.unknown(tls.unknown)
        writer.endObject()
    }

    private static func certificate(_ certificate: RecordedCertificate, _ writer: inout JSONWriter) {
        writer.element()
        writer.beginObject(.lines)
        writer.member("sha256")
        writer.string(certificate.sha256)
        writer.member("subject")
        writer.string(certificate.subject)
        writer.member("issuer")
        writer.string(certificate.issuer)
        writer.member("notBefore")
        writer.shortTimestamp(certificate.notBefore)
        writer.member("notAfter")
        writer.shortTimestamp(certificate.notAfter)
        writer.unknown(certificate.unknown)
        writer.endObject()
    }
}

extension TLSDetails {
    /// What later exchanges on the same connection carry: version, cipher, ALPN and SNI.
    ///
    /// A new object with its text made ready: get it once for a connection, not for each exchange.
    public var withoutChain: TLSDetails {
        let plain = TLSDetails(version: self.version, cipher: self.cipher, alpn: self.alpn, sni: self.sni)
        return TLSDetails(
            version: self.version, cipher: self.cipher, alpn: self.alpn, sni: self.sni, isResumed: false, chain: [], unknown: [],
            text: ConnectionEncoder.text(of: plain))
    }
}
