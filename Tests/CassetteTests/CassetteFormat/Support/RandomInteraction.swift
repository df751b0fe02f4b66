import CassetteModel
import TapeBytes

/// Random interactions for property tests: odd bytes, every content, every optional member.
struct RandomInteraction {
    private var json: RandomJSON

    init(seed: UInt64) { self.json = RandomJSON(seed: seed) }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self.json.generator) }
    private mutating func chance(_ one: Int) -> Bool { self.below(one) == 0 }
    private mutating func pick<Element>(_ choices: [Element]) -> Element { choices[self.below(choices.count)] }
    private mutating func maybe<Value>(_ make: (inout Self) -> Value) -> Value? { self.chance(2) ? make(&self) : nil }

    mutating func next() -> Interaction {
        Interaction(
            id: self.below(1_000_000),
            started: Timestamp(
                microseconds: Int64.random(in: -62_000_000_000_000_000...250_000_000_000_000_000, using: &self.json.generator)),
            request: self.request(), interim: (0..<self.below(3)).map { _ in self.interim() }, response: self.maybe { $0.response() },
            outcome: self.outcome(), timing: self.timing(), connection: self.maybe { $0.connection() },
            tunnel: self.maybe { TunnelCounts(sent: $0.below(1 << 40), received: $0.below(9)) }, unknown: self.unknown())
    }

    private mutating func request() -> RecordedRequest {
        RecordedRequest(
            method: self.pick(["GET", "POST", "M-SEARCH", "é"]), url: self.pick(["http://a/", "https://[::1]:9/ü?q=\"x\"&y=\\"]),
            target: self.maybe { $0.pick(["*", "/a b", "//x"]) }, version: self.pick([.http10, .http11, HTTPVersion(major: 2, minor: 0)]),
            headers: self.fields(), body: self.maybe { $0.body() }, trailers: self.maybe { $0.fields() }, unknown: self.unknown())
    }

    private mutating func response() -> RecordedResponse {
        RecordedResponse(
            status: 100 + self.below(900), reason: self.line(), version: .http11, headers: self.fields(), body: self.maybe { $0.body() },
            trailers: self.maybe { $0.fields() }, unknown: self.unknown())
    }

    private mutating func interim() -> InterimResponse {
        InterimResponse(
            version: .http11, status: 103, reason: self.line(), headers: self.fields(), at: self.time(), unknown: self.unknown())
    }

    /// Any bytes except line ends.
    private mutating func line() -> [UInt8] {
        guard self.chance(3) else { return Array(self.pick(["OK", "", "Nicht gefunden – 없음", "\"quoted\\\"\t"]).utf8) }
        return (0..<self.below(30)).map { _ in UInt8(self.below(256)) }.filter { $0 != 0 && $0 != 10 && $0 != 13 }
    }

    private mutating func fields() -> HeaderFields {
        var fields = HeaderFields()
        for _ in 0..<self.below(5) { fields.append(line: Array("X-\(self.below(9)):".utf8) + self.line()) }
        return fields
    }

    private mutating func time() -> Double { Double(self.below(10_000_000)) / 1000 }

    private mutating func timing() -> Timing {
        Timing(
            blocked: self.maybe { $0.time() }, dns: self.maybe { $0.time() }, connect: self.maybe { $0.time() },
            tls: self.maybe { $0.time() },
            send: self.maybe { $0.time() }, wait: self.maybe { $0.time() }, receive: self.maybe { $0.time() },
            total: self.maybe { $0.time() },
            unknown: self.unknown())
    }

    private mutating func connection() -> ConnectionInfo {
        ConnectionInfo(
            id: self.below(99), remote: "127.0.0.1:80", isReused: self.chance(2), tls: self.maybe { $0.tls() }, unknown: self.unknown())
    }

    private mutating func tls() -> TLSDetails {
        let details = TLSDetails(
            version: self.pick(["TLSv1", "TLSv1.3"]), cipher: self.pick(["TLS_AES_128_GCM_SHA256", "\"odd\" \u{7F}"]),
            alpn: self.maybe { $0.pick(["http/1.1", "h2", ""]) }, sni: self.maybe { $0.pick(["a.test", "xn--3e0b707e"]) },
            isResumed: self.chance(2), chain: (0..<self.below(4)).map { _ in self.certificate() }, unknown: self.unknown())
        return self.chance(3) ? details.withoutChain : details
    }

    private mutating func certificate() -> RecordedCertificate {
        RecordedCertificate(
            sha256: self.digest(), subject: self.pick(["CN=a.test,O=A \\\"B\\\"", "", "CN=음식"]), issuer: "CN=\n",
            notBefore: self.instant(), notAfter: self.instant(), unknown: self.unknown())
    }

    /// With or without a fraction of a second.
    private mutating func instant() -> Timestamp {
        Timestamp(microseconds: Int64(self.below(1 << 32)) * 1_000_000 + (self.chance(3) ? Int64(self.below(1_000_000)) : 0))
    }

    private mutating func outcome() -> Outcome {
        switch self.below(3) {
        case 0: .complete
        case 1: .cut(Cut(by: self.pick(Cut.Party.allCases), reason: "connection \u{1}\u{7F} lost", unknown: self.unknown()))
        default: .failed(Failure(kind: self.pick(Failure.Kind.allCases), message: "", unknown: self.unknown()))
        }
    }

    private mutating func unknown() -> [UnknownMember] {
        guard self.chance(4) else { return [] }
        return [UnknownMember(name: self.pick(["later", "a \"b\"", ""]), json: Array(self.json.text(JSONStyle(indent: 1)).utf8))]
    }

    private mutating func digest() -> String { String((0..<64).map { _ in self.pick(Array("0123456789abcdef")) }) }

    private mutating func sidecar() -> Sidecar {
        let digest = self.digest()
        return Sidecar(path: "pets.bodies/\(self.pick([digest, "photo"])).jpg", size: self.below(1 << 33), sha256: digest)
    }

    private mutating func text() -> [UInt8] {
        Array(
            (0..<1 + self.below(12)).map { _ in self.pick(["a", "\n", "line\n", "\r\n", "음식", "\u{7F}", "\u{0}", "\"", "😀"]) }.joined().utf8
        )
    }

    private mutating func content() -> BodyContent {
        switch self.below(11) {
        case 9: return .grpc(self.messages())
        case 5: return self.encodedText()
        case 6: return .form(self.form())
        case 7: return self.list()
        case 8: return .multipart(self.multipart(depth: 1))
        case 0: return .empty
        case 1: return .text(self.text())
        case 2:
            let style = self.json.style()
            let text = Array(self.json.text(style).utf8)
            return .json(text, style: style)
        case 3: return .binary((0..<self.below(40)).map { _ in UInt8(self.below(256)) })
        case 4: return .file(self.sidecar())
        default:
            return .raw(
                RawSlice(
                    path: "pets.bodies/undeveloped.raw", offset: self.below(1 << 40), size: self.below(1 << 20),
                    crc32: UInt32(self.below(1 << 32))))
        }
    }

    private mutating func messages() -> GRPCMessages {
        var random = RandomProto(seed: self.json.generator.next())
        let messages = (0..<self.below(4)).map { _ in
            let contents: [GRPCContent] = [
                .proto(random.message()), .proto(random.message()), .text(self.text()), .binary(random.bytes(30)), .file(self.sidecar()),
            ]
            var message = GRPCMessage(isCompressed: self.chance(3), after: self.maybe { $0.below(9) }, content: self.pick(contents))
            message.unknown = self.unknown()
            guard message.isCompressed, self.chance(2) else { return message }
            message.coding = self.pick([.gzip(DeflateParameters(level: 6), header: .plain), .deflate(nil), .zstandard])
            message.codedSize = self.maybe { $0.below(99) }
            message.original = self.maybe { $0.chance(2) ? .bytes(random.bytes(20)) : .file($0.sidecar()) }
            return message
        }
        return GRPCMessages(messages: messages, rest: random.bytes(9))
    }

    private mutating func encodedText() -> BodyContent {
        let charset = self.pick(Charset.allCases)
        return .encodedText(charset.encode(Array("plain\r\ntext".utf8)) ?? [], charset)
    }

    private mutating func form() -> FormText {
        let texts = ["a", "", "음식", "a b", "=&%+", "C:\\d", "line\r\nend", "*-._~!"]
        let fields = (0..<self.below(5)).map { _ in FormText.Field(name: self.pick(texts), value: self.maybe { $0.pick(texts) }) }
        let spelling = FormSpelling(
            escapesSpace: self.chance(2), usesLowerCaseHex: self.chance(2), plain: self.chance(2) ? Array("~=/".utf8) : [],
            escaped: self.chance(3) ? Array("*".utf8) : [])
        return FormText(fields: fields, spelling: spelling)
    }

    private mutating func list() -> BodyContent {
        var style = JSONStyle(colon: self.pick(["", " "]), comma: self.pick(["", " ", "\t"]))
        let end = self.pick(["\n", "\r\n"])
        if self.chance(2) {
            let lines = (0..<1 + self.below(4)).map { _ in self.json.text(style) + end }.joined()
            return JSONLines(Array((lines + self.pick(["", "{}"])).utf8)).map { .lines($0) } ?? .text(Array(lines.utf8))
        }
        if self.chance(3) { style = .compact }
        let events = (0..<1 + self.below(4)).map { _ in
            (0..<self.below(4)).map { _ in
                self.pick([
                    "data: x", "data: \(self.json.text(style))", "id: 7", ": ping", "data:", "event: 음식", "odd", "json: {}", "data: {",
                ])
                    + end
            }.joined() + end
        }
        let text = Array((events.joined() + self.pick(["", "data: ", "id: 1\(end)"])).utf8)
        return EventStream(text).map { .events($0) } ?? .text(text)
    }

    private mutating func delimiter(_ usual: MultipartDelimiter) -> MultipartDelimiter {
        guard self.chance(4) else { return usual }
        return MultipartDelimiter(
            lineEndBefore: self.pick(LineEnd.allCases), isClosing: usual.isClosing, padding: self.chance(2) ? [32, 9] : [],
            lineEndAfter: self.pick(LineEnd.allCases))
    }

    private mutating func bytes() -> [UInt8] { (0..<self.below(20)).map { _ in UInt8(self.below(256)) } }

    mutating func multipart(depth: Int) -> MultipartBody<PartContent> {
        let preamble = self.chance(4) ? self.bytes() : []
        var parts: [MultipartPart<PartContent>] = []
        for index in 0..<self.below(4) {
            let usual = MultipartBody<PartContent>.usualDelimiter(isFirst: index == 0 && preamble.isEmpty)
            let lines = (0..<self.below(3)).map { _ in Array("X:".utf8) + self.line() }
            let headers = self.chance(5) ? PartHeaderSection(bytes: self.bytes()) : PartHeaderSection(lines: lines)
            var content = PartContent(self.content()).map { MultipartContent.data($0) }
            if self.chance(5) { content = .data(.transferEncoded(.text(self.text()), self.transfer())) }
            if self.chance(5), depth < 3 { content = .multipart(self.multipart(depth: depth + 1)) }
            parts.append(MultipartPart(delimiter: self.delimiter(usual), headers: headers, content: content ?? .data(.text([]))))
        }
        let closing = MultipartBody<PartContent>.usualDelimiter(isFirst: preamble.isEmpty && parts.isEmpty, isClosing: true)
        guard let boundary = MultipartBoundary(self.pick(["X", "----WebKitFormBoundary음식", "a b"])) else { return self.multipart(depth: 3) }
        return MultipartBody(
            boundary: boundary, preamble: preamble, parts: parts, closing: self.chance(5) ? nil : self.delimiter(closing),
            epilogue: self.chance(4) ? self.bytes() : [])
    }

    private mutating func transfer() -> TransferSpelling {
        let lineEnd = self.pick([LineEnd.lineFeed, .carriageReturnLineFeed])
        guard self.chance(2) else { return .base64(Base64Spelling(line: self.below(100), lineEnd: lineEnd, isEnded: self.chance(2))) }
        let escaped = self.chance(2) ? [] : Array(" .~".utf8)
        return .quotedPrintable(
            QuotedPrintableSpelling(line: self.pick([0, 4, 76]), lineEnd: lineEnd, usesLowerCaseHex: self.chance(2), escaped: escaped))
    }

    private mutating func coding() -> ContentCoding {
        let parameters = self.maybe { $0.parameters() }
        switch self.below(6) {
        case 0: return .gzip(parameters, header: self.gzipHeader())
        case 5:
            let count = 2 + self.below(GzipMember.limit - 1)
            return .gzipMembers(
                (1...count).map {
                    GzipMember(header: self.gzipHeader(), parameters: self.parameters(), size: $0 == count ? nil : self.below(1 << 20))
                })
        case 1: return .deflate(parameters)
        case 2: return .brotli
        case 3: return .zstandard
        default: return .rawDeflate(parameters)
        }
    }

    private mutating func parameters() -> DeflateParameters {
        DeflateParameters(
            level: self.below(10), memoryLevel: 1 + self.below(9), windowBits: 9 + self.below(7), strategy: self.below(5),
            flushes: self.chance(4) ? (0...self.below(40)).map { _ in self.below(1 << 20) } : [])
    }

    private mutating func gzipHeader() -> GzipHeader {
        self.chance(2) ? .plain : GzipHeader(bytes: (0..<10 + self.below(9)).map { _ in UInt8(self.below(256)) })
    }

    private mutating func arrival() -> Arrival {
        let count = self.chance(4) ? 40 : self.below(4)
        let pieces = (0..<count).map { _ in
            Arrival.Piece(at: self.time(), size: self.below(70_000), line: self.chance(4) ? "0A;\tx=\"y\"" : nil)
        }
        return Arrival(
            isChunked: self.chance(2), pieces: pieces, lastLine: self.chance(4) ? "000" : nil, isThinned: self.chance(3),
            unknown: self.unknown())
    }

    private mutating func body() -> Body {
        Body(
            size: self.below(1 << 33), isComplete: !self.chance(4), codings: self.chance(3) ? [self.coding(), self.coding()] : [],
            content: self.content(), original: self.chance(4) ? self.sidecar() : nil, arrival: self.maybe { $0.arrival() },
            sha256: self.maybe { $0.digest() }, note: self.chance(5) ? "not gzip" : nil, unknown: self.unknown())
    }
}
