public import CassetteModel
public import TapeBytes

/// Reads one interaction from its JSON text, in any layout and order of members.
///
/// Trusts nothing: checks types, ranges, paths and everything that goes into a message's head. Opens no files.
public enum InteractionDecoder {
    /// A larger head section is not from a recording: heads are limited to far less while recording.
    static let headLimit = 16 << 20

    public static func decode(_ bytes: UnsafeRawBufferPointer, at place: InteractionPlace) throws(CassetteError)
        -> Interaction
    {
        try self.decode(Array(bytes), at: place)
    }

    public static func decode(_ bytes: [UInt8], at place: InteractionPlace) throws(CassetteError) -> Interaction {
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes)
        } catch {
            throw place.error(.damaged, line: error.line, member: "", error.reason)
        }
        return try self.interaction(document.root, place)
    }

    private static let members = [
        "id", "started", "request", "interim", "response", "outcome", "tunnel", "timing", "connection", "webSocket", "modified",
        "repeat", "stub",
    ]

    private static func interaction(_ value: JSONValue, _ place: InteractionPlace) throws(CassetteError) -> Interaction {
        let reader = try ObjectReader(value, "", place, known: self.members)
        let started = try reader.required("started")
        guard let time = try Timestamp(reader.requiredString("started")) else {
            throw reader.error(started, "started", "expected a time in UTC such as 2026-11-21T04:19:28.123456Z")
        }
        var interaction = Interaction(
            id: try reader.requiredInt("id"), started: time, request: try self.request(reader.required("request"), place))
        interaction.repeats = try reader.bool("repeat") ?? false
        if let stub = reader["stub"] { interaction.stub = try self.stub(stub, place) }
        if let response = reader["response"] { interaction.response = try self.response(response, place) }
        if let interim = reader["interim"] {
            guard interim.kind == .array else { throw reader.error(interim, "interim", "expected an array") }
            for element in interim.elements { interaction.interim.append(try self.interim(element, place)) }
        }
        if let outcome = reader["outcome"] { interaction.outcome = try self.outcome(outcome, place) }
        if let tunnel = reader["tunnel"] {
            let reader = try ObjectReader(tunnel, "tunnel", place, known: ["sent", "received"])
            interaction.tunnel = TunnelCounts(
                sent: try reader.requiredInt("sent"), received: try reader.requiredInt("received"), unknown: reader.unknown)
        }
        if let timing = reader["timing"] { interaction.timing = try self.timing(timing, place) }
        if let connection = reader["connection"] { interaction.connection = try ConnectionDecoder.decode(connection, place) }
        if let messages = reader["webSocket"] {
            interaction.webSocket = try WebSocketMessageCoder.decode(messages: messages, "webSocket", place)
        }
        if let modified = reader["modified"] { interaction.modified = try self.modification(modified, place) }
        interaction.unknown = reader.unknown
        return interaction
    }

    private static func stub(_ value: JSONValue, _ place: InteractionPlace) throws(CassetteError) -> StubConditions {
        let reader = try ObjectReader(value, "stub", place, known: ["exact", "includes", "joined", "single"])
        var conditions = StubConditions(exact: try self.places(try reader.required("exact"), "exact", reader))
        if let value = reader["includes"] { conditions.includes = try self.places(value, "includes", reader, areNamed: true) }
        if let value = reader["joined"] { conditions.joined = try self.places(value, "joined", reader, areNamed: true) }
        if let value = reader["single"] { conditions.single = try self.places(value, "single", reader, areNamed: true) }
        conditions.unknown = reader.unknown
        return conditions
    }

    private static func places(
        _ value: JSONValue, _ name: String, _ reader: ObjectReader, areNamed: Bool = false
    ) throws(CassetteError) -> [StubConditions.Place] {
        guard value.kind == .array else { throw reader.error(value, name, "expected an array") }
        var places: [StubConditions.Place] = []
        for element in value.elements {
            guard let place = element.string.flatMap({ StubConditions.Place($0) }), place.isNamed || !areNamed else {
                let others = areNamed ? "" : "url, path, query, body, body:KIND, "
                throw reader.error(element, name, "expected \(others)query:NAME, header:NAME or cookie:NAME")
            }
            places.append(place)
        }
        return places
    }

    // MARK: Messages

    private static func request(_ value: JSONValue, _ place: InteractionPlace) throws(CassetteError) -> RecordedRequest {
        let reader = try ObjectReader(
            value, "request", place, known: ["method", "protocol", "url", "target", "version", "headers", "body", "trailers", "note"])
        let method = try reader.required("method")
        guard let name = try reader.headString("method"), !name.isEmpty, !name.utf8.contains(32) else {
            throw reader.error(method, "method", "expected a method such as GET")
        }
        let location = try reader.required("url")
        guard let url = try reader.headString("url"), !url.isEmpty else { throw reader.error(location, "url", "expected an absolute URL") }
        let headers = try self.fields("headers", reader) ?? HeaderFields()
        var request = RecordedRequest(
            method: name, url: url, target: try reader.headString("target"), version: try self.version(reader),
            headers: headers, body: try self.body(reader, headers), trailers: try self.fields("trailers", reader), unknown: reader.unknown)
        request.connectProtocol = try reader.headString("protocol")
        request.note = try reader.string("note")
        return request
    }

    private static func response(_ value: JSONValue, _ place: InteractionPlace) throws(CassetteError) -> RecordedResponse {
        let reader = try ObjectReader(
            value, "response", place,
            known: ["status", "reason", "version", "headers", "body", "trailers", "codedHeaders", "after", "endAfter"])
        let headers = try self.fields("headers", reader) ?? HeaderFields()
        var response = RecordedResponse(
            status: try reader.requiredInt("status", in: 100...999), reason: try self.reason(reader), version: try self.version(reader),
            headers: headers, body: try self.body(reader, headers), trailers: try self.fields("trailers", reader), unknown: reader.unknown)
        response.omitsReasonSpace = self.omitsReasonSpace(reader)
        response.codedHeaders = try self.fields("codedHeaders", reader)
        response.after = try reader.int("after")
        response.endAfter = try reader.int("endAfter")
        return response
    }

    private static func interim(_ value: JSONValue, _ place: InteractionPlace) throws(CassetteError) -> InterimResponse {
        let reader = try ObjectReader(value, "interim", place, known: ["at", "version", "status", "reason", "headers"])
        // 101 (Switching Protocols) ends HTTP on the connection (RFC 9110, 15.2.2).
        if let status = reader["status"], status.int == 101 {
            throw reader.error(status, "status", "101 is not an interim status: it belongs in \"response\"")
        }
        var response = InterimResponse(
            version: try self.version(reader), status: try reader.requiredInt("status", in: 100...199), reason: try self.reason(reader),
            headers: try self.fields("headers", reader) ?? HeaderFields(), at: try reader.double("at") ?? 0, unknown: reader.unknown)
        response.omitsReasonSpace = self.omitsReasonSpace(reader)
        return response
    }

    private static func body(_ reader: ObjectReader, _ headers: HeaderFields) throws(CassetteError) -> Body? {
        guard let value = reader["body"] else { return nil }
        return try BodyDecoder.decode(value, reader.memberPath("body"), reader.place, headers: headers)
    }

    private static func version(_ reader: ObjectReader) throws(CassetteError) -> HTTPVersion {
        guard let text = try reader.utf8("version"), let value = reader["version"] else { return .http11 }
        let parts = text.dropFirst(5).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.starts(with: "HTTP/".utf8), parts.count == 2, parts.allSatisfy({ $0.count == 1 }), let major = JSONNumber.int(parts[0]),
            let minor = JSONNumber.int(parts[1])
        else { throw reader.error(value, "version", "expected a version such as HTTP/1.1") }
        return HTTPVersion(major: major, minor: minor)
    }

    private static func omitsReasonSpace(_ reader: ObjectReader) -> Bool { reader["reason"]?.kind == .null }

    private static func reason(_ reader: ObjectReader) throws(CassetteError) -> [UInt8] {
        guard let value = reader["reason"], value.kind != .null else { return [] }
        return try HeadBytes.decodeLine(value, "reason", reader)
    }

    private static func fields(_ name: String, _ reader: ObjectReader) throws(CassetteError) -> HeaderFields? {
        guard let value = reader[name] else { return nil }
        guard value.kind == .array else { throw reader.error(value, name, "expected an array of field lines") }
        guard value.range.count <= self.headLimit else { throw reader.error(value, name, "expected at most 16 MiB", code: .tooLarge) }
        var fields = HeaderFields()
        for element in value.elements {
            let line = try HeadBytes.decodeLine(element, name, reader)
            guard let first = line.first, first != 32, first != 9 else {
                throw reader.error(element, name, "expected a field line: an empty line would end the head")
            }
            fields.append(line: line)
        }
        return fields
    }

    // MARK: About the exchange

    private static func modification(_ value: JSONValue, _ place: InteractionPlace) throws(CassetteError) -> Modification {
        let reader = try ObjectReader(value, "modified", place, known: ["rules", "forwardedTo"])
        let rules = try reader.required("rules")
        guard rules.kind == .array else { throw reader.error(rules, "rules", "expected an array of the names of rules") }
        var names: [String] = []
        for element in rules.elements {
            guard let name = element.string else { throw reader.error(element, "rules", "expected the name of a rule") }
            names.append(name)
        }
        return Modification(rules: names, forwardedTo: try reader.headString("forwardedTo"), unknown: reader.unknown)
    }

    /// An error code of HTTP/2, which has 32 bits.
    private static func code(_ outcome: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> Int? {
        guard let value = outcome["code"] else { return nil }
        guard let code = value.int, UInt32(exactly: code) != nil else {
            throw reader.error(value, "code", "expected an error code of HTTP/2")
        }
        return code
    }

    private static func outcome(_ value: JSONValue, _ place: InteractionPlace) throws(CassetteError) -> Outcome {
        guard value["failed"] == nil else {
            let reader = try ObjectReader(value, "outcome", place, known: ["failed", "message", "answered", "closed", "code"])
            guard let kind = try Failure.Kind(rawValue: reader.requiredString("failed")) else {
                throw reader.error(value, "failed", self.expectedKinds)
            }
            var failure = Failure(
                kind: kind, message: try reader.string("message") ?? "", isClose: try reader.bool("closed") ?? false,
                code: try self.code(value, reader), unknown: reader.unknown)
            if let answered = try reader.string("answered") {
                guard let answer = Failure.Answer(rawValue: answered) else {
                    throw reader.error(value, "answered", "expected page or break")
                }
                failure.answered = answer
            }
            return .failed(failure)
        }
        let reader = try ObjectReader(value, "outcome", place, known: ["cut", "kind", "reason", "code"])
        guard let party = try Cut.Party(rawValue: reader.requiredString("cut")) else {
            throw reader.error(value, "cut", "expected one of client, origin, recorder")
        }
        var cut = Cut(by: party, reason: try reader.string("reason") ?? "", code: try self.code(value, reader), unknown: reader.unknown)
        if let text = try reader.string("kind") {
            guard let kind = Failure.Kind(rawValue: text) else { throw reader.error(value, "kind", self.expectedKinds) }
            cut.kind = kind
        }
        return .cut(cut)
    }

    private static var expectedKinds: String { "expected one of \(Failure.Kind.allCases.map(\.rawValue).joined(separator: ", "))" }

    private static let phases = ["blocked", "dns", "connect", "tls", "send", "wait", "receive", "total"]

    private static func timing(_ value: JSONValue, _ place: InteractionPlace) throws(CassetteError) -> Timing {
        let reader = try ObjectReader(value, "timing", place, known: self.phases)
        return Timing(
            blocked: try reader.double("blocked"), dns: try reader.double("dns"), connect: try reader.double("connect"),
            tls: try reader.double("tls"), send: try reader.double("send"), wait: try reader.double("wait"),
            receive: try reader.double("receive"), total: try reader.double("total"), unknown: reader.unknown)
    }
}

/// Reads the `connection` member's value.
///
/// Checks that digests are digests and times are times; the names are for people and taken as they are.
enum ConnectionDecoder {
    static func decode(_ value: JSONValue, _ place: InteractionPlace) throws(CassetteError) -> ConnectionInfo {
        let reader = try ObjectReader(value, "connection", place, known: ["id", "stream", "remote", "reused", "tls"])
        var connection = ConnectionInfo(
            id: try reader.requiredInt("id"), stream: try reader.int("stream"), remote: try reader.requiredString("remote"),
            isReused: try reader.bool("reused") ?? false,
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
            throw reader.error(try reader.required(name), name, "expected a time in UTC such as 2026-11-21T00:00:00Z")
        }
        return time
    }
}
