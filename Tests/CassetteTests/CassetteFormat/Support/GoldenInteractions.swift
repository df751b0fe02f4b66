import CassetteModel
import TapeBytes

/// Interactions whose text is kept in `Golden/`.
enum GoldenInteractions {
    static let all: [(name: String, interactions: [Interaction])] = [
        ("simple", [simple]), ("bodies", [json, upload, gzip, stored, undecoded]), ("endings", [cut, failed, upgraded, early]),
        ("odd", [odd]), ("parts", [form, parts, nested, lines]), ("tls", [opened, kept, refusedLeaf, expired]),
        ("grpc", [call, conversation]),
    ]

    private static let start = Timestamp(microseconds: 1_795_234_768_123_456)
    private static let digest = "5f2c81ab5f2c81ab5f2c81ab5f2c81ab5f2c81ab5f2c81ab5f2c81ab5f2c81ab"

    private static func proto(_ fields: ProtoField...) -> GRPCContent { .proto(ProtoMessage(fields: fields)) }

    private static func text(_ number: Int, _ name: String?, _ text: String) -> ProtoField {
        ProtoField(number, name: name, .text(Array(text.utf8)))
    }

    private static let grpc = HeaderFields(["te: trailers", "content-type: application/grpc", "grpc-encoding: gzip"])

    /// Messages with names, without names, compressed, and in a file.
    private static let call = Interaction(
        id: 1, started: start,
        request: RecordedRequest(
            method: "POST", url: "https://pets.test/pets.v1.Pets/Get", version: .http2, headers: grpc,
            body: Body(size: 10, content: .grpc(GRPCMessages(messages: [GRPCMessage(content: proto(text(1, "name", "Rex")))])))),
        response: RecordedResponse(
            status: 200, version: .http2, headers: grpc,
            body: Body(
                size: 70_000,
                content: .grpc(
                    GRPCMessages(messages: [
                        GRPCMessage(
                            content: proto(
                                ProtoField(
                                    1, name: "pet",
                                    .message(
                                        ProtoMessage(fields: [
                                            text(1, "name", "Rex"), ProtoField(2, name: "age", .varint(UInt64(bitPattern: -1))),
                                            ProtoField(3, name: "kind", .varint(1), label: "DOG"),
                                            ProtoField(4, name: "weight", .fixed64(Double(2.5).bitPattern, isDouble: true)),
                                            ProtoField(5, name: "ids", .packed([.varint(1), .varint(1 << 60)])),
                                            ProtoField(6, name: "labels", .entry(ProtoMessage(fields: [text(1, "key", "a")]))),
                                        ]))), ProtoField(2, .fixed64(0x4009_21FB_5444_2D18)), ProtoField(3, .fixed32(1)),
                                ProtoField(4, .bytes([255, 0])), ProtoField(5, .group(ProtoMessage(fields: [text(1, nil, "")]))))),
                        GRPCMessage(
                            isCompressed: true, content: proto(text(3, nil, "note")),
                            coding: .gzip(DeflateParameters(level: 6), header: .plain), codedSize: 31),
                        GRPCMessage(
                            isCompressed: true, content: proto(), coding: .gzip(nil, header: .plain), codedSize: 3,
                            original: .bytes([1, 2, 3])),
                        GRPCMessage(isCompressed: true, content: .binary([0x1F, 0x8B])),
                        GRPCMessage(content: .file(Sidecar(path: "grpc.bodies/\(digest).pb", size: 69_000, sha256: digest))),
                    ])), sha256: digest),
            trailers: HeaderFields(["grpc-status: 0"])),
        connection: ConnectionInfo(id: 2, stream: 7, remote: "127.0.0.1:443", isReused: true))

    /// Both sides send at once, and the server's last message is truncated.
    private static let conversation: Interaction = {
        var response = RecordedResponse(
            status: 200, version: .http2, headers: HeaderFields(["content-type: application/grpc+json"]),
            body: Body(
                size: 30, isComplete: false,
                content: .grpc(
                    GRPCMessages(
                        messages: [
                            GRPCMessage(after: 1, content: .json(Array("{\"a\": 1}".utf8), style: .spaced)),
                            GRPCMessage(after: 2, content: .text(Array("plain".utf8))),
                        ], rest: [0, 0, 0]))))
        response.after = 0
        response.endAfter = 2
        return Interaction(
            id: 2, started: start,
            request: RecordedRequest(
                method: "POST", url: "https://pets.test/pets.v1.Pets/Chat", version: .http2,
                headers: HeaderFields(["content-type: application/grpc+json"]), body: Body(size: 0, content: .empty)),
            response: response, outcome: .cut(Cut(by: .origin, reason: "the stream was reset: INTERNAL_ERROR")))
    }()

    static let simple = Interaction(
        id: 1, started: start,
        request: RecordedRequest(
            method: "GET", url: "http://127.0.0.1:9000/pets", headers: HeaderFields(["Host: 127.0.0.1:9000", "accept:  */*"])),
        response: RecordedResponse(
            status: 200, reason: Array("OK".utf8), headers: HeaderFields(["Content-Type: text/plain", "Content-Length: 12"]),
            body: Body(size: 12, content: .text(Array("Hello, pets\n".utf8)))),
        timing: Timing(connect: 0.21, send: 0.08, wait: 2.31, receive: 0.4, total: 3),
        connection: ConnectionInfo(id: 1, remote: "127.0.0.1:9000", isReused: false))

    private static let json = Interaction(
        id: 1, started: start,
        request: RecordedRequest(
            method: "POST", url: "http://127.0.0.1:9000/pets", headers: HeaderFields(["Host: 127.0.0.1:9000", "Content-Length: 31"]),
            body: Body(size: 31, content: .json(Array(#"{"name": "이름", "tags": []}"#.utf8), style: .spaced))),
        response: RecordedResponse(
            status: 201, reason: Array("Created".utf8), headers: HeaderFields(["Content-Type: application/json"]),
            body: Body(
                size: 143,
                content: .json(
                    Array(
                        "{\n  \"id\": 1.0,\n  \"name\": \"\\uc774\\ub984\",\n  \"description\": \"a sentence that does not fit on the line any more, however hard one tries\"\n}\n"
                            .utf8), style: JSONStyle(indent: 2, colon: " ", tail: "\n")))),
        timing: Timing(total: 1))

    private static let upload = Interaction(
        id: 2, started: start,
        request: RecordedRequest(
            method: "PUT", url: "http://127.0.0.1:9000/notes", headers: HeaderFields(["Transfer-Encoding: chunked"]),
            body: Body(
                size: 21, content: .text(Array("first\r\n\tsecond \u{7F}\nlast".utf8)),
                arrival: Arrival(
                    isChunked: true, pieces: [.init(at: 0, size: 10), .init(at: 12.5, size: 11, line: "0B;ext=1")], lastLine: "000")),
            trailers: HeaderFields(["X-Checksum: 7"])),
        response: RecordedResponse(status: 204, reason: Array("No Content".utf8)), timing: Timing(total: 13))

    private static let gzip = Interaction(
        id: 3, started: start,
        request: RecordedRequest(method: "GET", url: "http://127.0.0.1:9000/zip", headers: HeaderFields(["Host: 127.0.0.1:9000"])),
        response: RecordedResponse(
            status: 200, reason: Array("OK".utf8), headers: HeaderFields(["Content-Encoding: gzip"]),
            body: Body(
                size: 43, codings: [.gzip(DeflateParameters(level: 6), header: .plain)],
                content: .json(Array(#"{"id":1}"#.utf8), style: .compact),
                arrival: Arrival(isChunked: false, pieces: (0..<9).map { .init(at: Double($0) / 8, size: 5) }, isThinned: true),
                sha256: digest)),
        timing: Timing(total: 1))

    private static let stored = Interaction(
        id: 4, started: start,
        request: RecordedRequest(method: "GET", url: "http://127.0.0.1:9000/cat.jpg", body: Body(size: 0, content: .empty)),
        response: RecordedResponse(
            status: 200,
            body: Body(
                size: 20_000, codings: [.gzip(nil, header: GzipHeader(bytes: Array(0..<12)))],
                content: .file(Sidecar(path: "pets.bodies/\(digest).jpg", size: 20_480, sha256: digest)),
                original: Sidecar(path: "pets.bodies/\(digest).gz", size: 20_000, sha256: digest), sha256: digest)),
        timing: Timing(total: 1))

    private static let undecoded = Interaction(
        id: 5, started: start,
        request: RecordedRequest(
            method: "POST", url: "http://127.0.0.1:9000/raw", body: Body(size: 3, content: .binary([0xFF, 0xFE, 0xFD]))),
        response: RecordedResponse(
            status: 200,
            body: Body(size: 7, content: .raw(RawSlice(path: "pets.bodies/undeveloped.raw", offset: 4096, size: 7, crc32: 0xDEAD_BEEF)))),
        timing: Timing(total: 1))

    private static let cut = Interaction(
        id: 1, started: start, request: RecordedRequest(method: "GET", url: "http://127.0.0.1:9000/long"),
        response: RecordedResponse(
            status: 200, reason: Array("OK".utf8), headers: HeaderFields(["Content-Length: 100"]),
            body: Body(size: 4, isComplete: false, content: .text(Array("half".utf8)))),
        outcome: .cut(Cut(by: .origin, reason: "the origin closed the connection 96 octets early")), timing: Timing(total: 1))

    private static let failed = Interaction(
        id: 2, started: start, request: RecordedRequest(method: "GET", url: "http://127.0.0.1:9/", version: .http10),
        outcome: .failed(Failure(kind: .refused, message: "127.0.0.1:9 refused the connection")), timing: Timing())

    private static let upgraded = Interaction(
        id: 3, started: start,
        request: RecordedRequest(method: "GET", url: "http://127.0.0.1:9000/socket", headers: HeaderFields(["Upgrade: websocket"])),
        response: RecordedResponse(status: 101, reason: Array("Switching Protocols".utf8)), timing: Timing(total: 2.125),
        connection: ConnectionInfo(id: 7, remote: "[::1]:9000", isReused: true), tunnel: TunnelCounts(sent: 12, received: 4096))

    private static let early = Interaction(
        id: 4, started: start, request: RecordedRequest(method: "OPTIONS", url: "http://127.0.0.1:9000", target: "*"),
        interim: [
            InterimResponse(
                version: .http11, status: 103, reason: Array("Early Hints".utf8), headers: HeaderFields(["Link: </a.css>; rel=preload"]),
                at: 0.5)
        ], response: RecordedResponse(status: 200, body: Body(size: 0, content: .empty)), timing: Timing(total: 1))

    static let details = TLSDetails(
        version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384", alpn: "http/1.1", sni: "example.test", isResumed: true,
        chain: [
            RecordedCertificate(
                sha256: digest, subject: "CN=example.test", issuer: "CN=Test CA", notBefore: Timestamp(microseconds: 1_795_132_800_000_000),
                notAfter: Timestamp(microseconds: 1_826_668_800_000_000)),
            RecordedCertificate(
                sha256: digest, subject: "CN=Test CA", issuer: "CN=Test CA", notBefore: Timestamp(microseconds: 1_795_132_800_000_000),
                notAfter: Timestamp(microseconds: 2_110_492_799_000_000)),
        ])

    private static let opened = Interaction(
        id: 1, started: start,
        request: RecordedRequest(method: "GET", url: "https://example.test:9443/pets", headers: HeaderFields(["Host: example.test:9443"])),
        response: RecordedResponse(status: 204, reason: Array("No Content".utf8)),
        timing: Timing(connect: 0.2, tls: 1.4, wait: 2, total: 4),
        connection: ConnectionInfo(id: 1, remote: "127.0.0.1:9443", isReused: false, tls: details))

    private static let kept = Interaction(
        id: 2, started: start,
        request: RecordedRequest(method: "GET", url: "https://example.test:9443/pets", headers: HeaderFields(["Host: example.test:9443"])),
        response: RecordedResponse(status: 204, reason: Array("No Content".utf8)), timing: Timing(wait: 2, total: 2),
        connection: ConnectionInfo(id: 1, remote: "127.0.0.1:9443", isReused: true, tls: details.withoutChain))

    private static let refusedLeaf = Interaction(
        id: 3, started: start,
        request: RecordedRequest(
            method: "CONNECT", url: "https://example.test:9443/", target: "example.test:9443",
            headers: HeaderFields(["Host: example.test:9443"])),
        outcome: .failed(Failure(kind: .tls, message: "the client rejected the certificate made for example.test")), timing: Timing())

    private static let expired = Interaction(
        id: 4, started: start, request: RecordedRequest(method: "GET", url: "https://expired.test/"),
        outcome: .failed(Failure(kind: .tls, message: "the certificate of expired.test has expired")),
        timing: Timing(connect: 0.2, tls: 1.1),
        connection: ConnectionInfo(id: 2, remote: "127.0.0.1:9444", isReused: false))

    private static func posted(_ id: Int, _ type: String, _ content: BodyContent, answer: Body? = nil, _ answered: String = "")
        -> Interaction
    {
        let body = Body(size: 0, content: content)
        return Interaction(
            id: id, started: start,
            request: RecordedRequest(
                method: "POST", url: "http://127.0.0.1:9000/pets", headers: HeaderFields(["Content-Type: \(type)"]),
                body: Body(size: body.byteCount, content: content)),
            response: answer.map { RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: \(answered)"]), body: $0) },
            timing: Timing(total: 1))
    }

    private static func part(_ lines: [String], _ content: PartContent, isFirst: Bool = false) -> MultipartPart<PartContent> {
        MultipartPart(
            delimiter: MultipartBody<PartContent>.usualDelimiter(isFirst: isFirst),
            headers: PartHeaderSection(lines: lines.map { Array($0.utf8) }),
            content: .data(content))
    }

    private static let form = posted(
        1, "application/x-www-form-urlencoded",
        .form(
            FormText(
                fields: [.init(name: "pet", value: "고양이 2"), .init(name: "path", value: "/a"), .init(name: "flag", value: nil)],
                spelling: FormSpelling(escapesSpace: true, usesLowerCaseHex: true, plain: [47]))),
        answer: Body(size: 4, content: .encodedText([0xC0, 0xBD, 0xBD, 0xC4], .eucKR)), "text/plain; charset=euc-kr")

    private static var parts: Interaction {
        guard let boundary = MultipartBoundary("----WebKitFormBoundary7MA4YWxk") else { return simple }
        let body = MultipartBody<PartContent>(
            boundary: boundary,
            parts: [
                part(["Content-Disposition: form-data; name=\"food\""], .text(Array("음식".utf8)), isFirst: true),
                part(
                    ["Content-Disposition: form-data; name=\"photo\"; filename=\"고양이.jpg\"", "Content-Type: image/jpeg"],
                    .file(Sidecar(path: "pets.bodies/\(digest).jpg", size: 70_000, sha256: digest))),
                part(
                    ["Content-Disposition: form-data; name=\"data\"", "Content-Type: application/json"],
                    .json(Array(#"{"id": 1, "tags": []}"#.utf8), style: .spaced)),
            ])
        return posted(2, "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk", .multipart(body))
    }

    private static var nested: Interaction {
        guard let outer = MultipartBoundary("X"), let inner = MultipartBoundary("Y") else { return simple }
        let files = MultipartBody<PartContent>(
            boundary: inner, parts: [part(["Content-Disposition: file; filename=\"a\""], .binary([0, 1]), isFirst: true)],
            closing: MultipartDelimiter(isClosing: true, lineEndAfter: .none))
        var second = part([], .text(Array("a\nb".utf8)))
        second.delimiter = MultipartDelimiter(lineEndBefore: .lineFeed, padding: [32], lineEndAfter: .lineFeed)
        second.headers = PartHeaderSection(bytes: [0x41, 0x3A, 0xE9, 10, 10])
        let body = MultipartBody<PartContent>(
            boundary: outer, preamble: Array("preamble".utf8),
            parts: [
                MultipartPart(
                    headers: PartHeaderSection(lines: [Array("Content-Type: multipart/mixed; boundary=Y".utf8)]), content: .multipart(files)
                ),
                second,
            ], closing: nil)
        return posted(3, "multipart/mixed; boundary=\"X\"", .multipart(body))
    }

    private static var lines: Interaction {
        guard let lines = JSONLines(Array("{\"id\":1}\r\n{\"id\":2}".utf8)),
            let events = EventStream(Array("event: token\ndata: {\"text\":\"음\"}\n\n: ping\n\ndata: [DONE]\n\ndata: cu".utf8))
        else { return simple }
        return posted(
            4, "application/x-ndjson", .lines(lines), answer: Body(size: events.bytes.count, content: .events(events)), "text/event-stream"
        )
    }

    private static var odd: Interaction {
        var headers = HeaderFields()
        headers.append(line: [0x58, 0x3A, 0x20, 0xE9, 0x22, 0x09, 0x7F])
        headers.append(line: Array("x:y".utf8))
        return Interaction(
            id: 1, started: Timestamp(microseconds: -1), request: RecordedRequest(method: "GET", url: "http://a/", headers: headers),
            response: RecordedResponse(
                status: 200, reason: [0xFC],
                body: Body(
                    size: 5, content: .text(Array("plain".utf8)), note: "says gzip and is not",
                    unknown: [UnknownMember(name: "mood", json: Array("\"good\"".utf8))])),
            timing: Timing(total: 0.001, unknown: [UnknownMember(name: "queue", json: Array("{ \"a\":1 }".utf8))]),
            unknown: [UnknownMember(name: "later", json: Array("[\n 1 ]".utf8))])
    }
}
