internal import CassetteModel
internal import TapeBytes

/// Reads the `connection` member's value.
///
/// Checks that digests are digests and times are times; what the names say is for people and taken as it is.
enum ConnectionDecoder {
    static func decode(_ value: JSONValue, _ place: InteractionPlace) throws(CassetteError) -> ConnectionInfo {
        let reader = try ObjectReader(value, "connection", place, known: ["id", "remote", "reused", "tls"])
        var connection = ConnectionInfo(
            id: try reader.requiredInt("id"), remote: try reader.requiredString("remote"), isReused: try reader.bool("reused") ?? false,
            unknown: reader.unknown)
        if let tls = reader["tls"] { connection.tls = try self.tls(tls, place) }
        return connection
    }

    private static func tls(_ value: JSONValue, _ place: InteractionPlace) throws(CassetteError) -> TLSDetails {
        let reader = try ObjectReader(
            value, "connection.tls", place, known: ["version", "cipher", "alpn", "sni", "resumed", "chain"])
        return TLSDetails(
            version: try reader.requiredString("version"), cipher: try reader.requiredString("cipher"), alpn: try reader.string("alpn"),
            sni: try reader.string("sni"), isResumed: try reader.bool("resumed") ?? false, chain: try self.chain(reader),
            unknown: reader.unknown)
    }

    private static func chain(_ reader: ObjectReader) throws(CassetteError) -> [RecordedCertificate] {
        guard let value = reader["chain"] else { return [] }
        guard value.kind == .array else { throw reader.error(value, "chain", "expected an array of certificates") }
        var chain: [RecordedCertificate] = []
        for element in value.elements {
            guard chain.count < TLSDetails.mostCertificates else {
                throw reader.error(element, "chain", "expected at most \(TLSDetails.mostCertificates) certificates", code: .tooLarge)
            }
            chain.append(try self.certificate(element, reader))
        }
        return chain
    }

    private static func certificate(_ value: JSONValue, _ parent: ObjectReader) throws(CassetteError) -> RecordedCertificate {
        let reader = try ObjectReader(
            value, parent.memberPath("chain"), parent.place, known: ["sha256", "subject", "issuer", "notBefore", "notAfter"])
        guard let digest = try reader.digest("sha256") else { throw reader.error(value, "sha256", "is missing") }
        return RecordedCertificate(
            sha256: digest, subject: try reader.requiredString("subject"), issuer: try reader.requiredString("issuer"),
            notBefore: try self.time("notBefore", reader), notAfter: try self.time("notAfter", reader), unknown: reader.unknown)
    }

    private static func time(_ name: String, _ reader: ObjectReader) throws(CassetteError) -> Timestamp {
        guard let time = try Timestamp(reader.requiredString(name)) else {
            throw reader.error(try reader.required(name), name, "expected a time in UTC, as 2026-11-21T00:00:00Z")
        }
        return time
    }
}
