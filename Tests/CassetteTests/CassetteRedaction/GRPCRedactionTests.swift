import CassetteFormat
@testable import CassetteModel
@testable import CassetteRedaction
import TapeBytes
import TapeTestSupport
import Testing

@Suite struct GRPCRedactionTests {
    private static let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
    private static let headers = ["content-type: application/grpc"]

    private static func rules(_ rules: String..., keep: [String] = []) throws -> RedactionRules {
        try RedactionRules(rules: rules, keep: keep)
    }

    /// A request with a key in its head, whose body is redacted.
    private func redacted(
        _ body: [UInt8], _ lines: [String] = Self.headers, rules: RedactionRules = .standard, recorded: [ProtoMessage] = []
    ) -> (body: [UInt8], request: RecordedRequest, outcome: RedactionOutcome) {
        var request = RecordedRequest(method: "POST", url: "http://h/s.S/M", headers: HeaderFields(lines))
        if !recorded.isEmpty {
            request.body = Body(size: body.count, content: .grpc(GRPCMessages(messages: recorded.map { GRPCMessage(content: .proto($0)) })))
        }
        var wire: WireBody? = WireBody(body)
        let redactor = Redactor(rules: rules)
        var outcome = redactor.redact(request: &request, body: &wire)
        // The body contains the secret from the head, as in a real exchange.
        outcome.add(redactor.redact(request: &request, body: &wire))
        return (wire?.bytes ?? [], request, outcome)
    }

    // MARK: Fields

    @Test func aSecretInAMessageWithinAMessageGetsAPlaceholderAndLengthsThatFit() {
        let body = GRPCBodies.frame(.message(1, .text(2, "before"), .message(3, .text(1, Self.token)), .text(4, "after")), .text(9, "end"))
        let (redacted, _, outcome) = self.redacted(body)
        #expect(
            GRPCBodies.messages(redacted) == [
                [
                    .message(1, .text(2, "before"), .message(3, .text(1, "{{github-token:1}}")), .text(4, "after")), .text(9, "end"),
                ]
            ])
        #expect(outcome.count == 1)
        #expect(outcome.notes.isEmpty)
    }

    @Test func secretOfAHeaderIsFoundInTextsAndBytesOfMessages() {
        let bytes = [0xFF] + Array("s3cret-0123".utf8) + [0xFE]
        let body = GRPCBodies.frame(.text(1, "it is s3cret-0123!"), ProtoField(2, .bytes(bytes)))
        let (redacted, _, _) = self.redacted(body, Self.headers + ["authorization: Bearer s3cret-0123"])
        #expect(
            GRPCBodies.messages(redacted) == [
                [.text(1, "it is {{authorization:1}}!"), ProtoField(2, .bytes([0xFF] + Array("{{authorization:1}}".utf8) + [0xFE]))]
            ])
    }

    @Test func aMessageThatReadsAsTextKeepsALengthThatFits() {
        // Field 4 with 40 bytes of text: the tag is a quotation mark, and the length an opening parenthesis.
        let inner = ProtoMessage(fields: [.text(4, Self.token)])
        #expect(String(decoding: inner.bytes, as: UTF8.self) == "\"(\(Self.token)")
        let (redacted, _, _) = self.redacted(GRPCBodies.frame(ProtoField(1, .message(inner))))
        let expected = ProtoMessage(fields: [.text(4, "{{github-token:1}}")])
        #expect(GRPCBodies.payloads(redacted) == [ProtoMessage(fields: [ProtoField(1, .message(expected))]).bytes])
    }

    @Test func aMessageWithoutSecretsStaysAsItIs() {
        let body = GRPCBodies.frame(.text(1, "Rex"), ProtoField(2, .varint(3)), .message(3, .text(1, "a token of love")))
        let (redacted, _, outcome) = self.redacted(body)
        #expect(redacted == body)
        #expect(!outcome.isChanged)
    }

    @Test func namesCountLikeMembersOfJSON() {
        let fields: [ProtoField] = [
            .text(1, "hunter2", name: "password"), .text(2, "Rex", name: "name"),
            ProtoField(3, name: "pin", .varint(4711)), ProtoField(4, name: "client_secret", .bytes([1, 2, 0xFF])),
        ]
        let body = GRPCBodies.frame(ProtoMessage(fields: fields).bytes)
        let (redacted, _, _) = self.redacted(body, recorded: [ProtoMessage(fields: fields)])
        #expect(
            GRPCBodies.messages(redacted) == [
                [
                    .text(1, "{{password:1}}"), .text(2, "Rex"), ProtoField(3, .varint(4711)), .text(4, "{{client_secret:1}}"),
                ]
            ])
    }

    @Test func namesComeFromASchemaForRequestsAndAnswers() throws {
        var redactor = Redactor()
        redactor.schema = try ProtoSchema(files: [SampleSchema.bytes])
        var interaction = Interaction.call([])
        var (request, response): (WireBody?, WireBody?) = (
            WireBody(GRPCBodies.frame(.message(10, .text(11, "hunter2")))),
            WireBody(GRPCBodies.frame(.text(11, "opensesame"), .text(1, "hunter2")))
        )
        _ = redactor.redact(&interaction, requestBody: &request, responseBody: &response)
        #expect(request.flatMap { GRPCBodies.messages($0.bytes) } == [[.message(10, .text(11, "{{password:1}}"))]])
        #expect(response.flatMap { GRPCBodies.messages($0.bytes) } == [[.text(11, "{{password:2}}"), .text(1, "{{password:1}}")]])
    }

    @Test func aLiveRequestIsRedactedByTheSameNames() throws {
        let type = try ProtoSchema(files: [SampleSchema.bytes]).types(ofPath: "/pets.v1.Pets/Get")?.request
        let body = LiveRedactor(Redactor()).redacted(
            body: GRPCBodies.frame(.text(11, "hunter2")), headers: GRPCBodies.headers, messages: type)
        #expect(body == GRPCBodies.frame(.text(11, "{{password:1}}")))
    }

    @Test func aNumberUnderASecretsNameBecomesZero() {
        let fields = [ProtoField(1, name: "password", .varint(471_147)), ProtoField(2, name: "password", .varint(7))]
        let other = [ProtoField(3, name: "token", .fixed64(0x0102_0304_0506_0708))]
        let message = ProtoMessage(fields: [fields[0]] + other)
        let (redacted, _, outcome) = self.redacted(GRPCBodies.frame(message.bytes), recorded: [message])
        #expect(GRPCBodies.messages(redacted) == [[ProtoField(1, .varint(0)), ProtoField(3, .fixed64(0))]])
        #expect(outcome.count == 2)
        let small = ProtoMessage(fields: [fields[1]])
        #expect(!self.redacted(GRPCBodies.frame(small.bytes), recorded: [small]).outcome.isChanged)
    }

    @Test func withoutNamesAPasswordThatLooksLikeAWordStays() {
        let body = GRPCBodies.frame(.text(1, "hunter2"))
        #expect(self.redacted(body).body == body)
    }

    @Test func anEntryOfAMapIsNamedByItsKey() {
        let body = GRPCBodies.frame(
            .message(1, .text(1, "authorization"), .text(2, "Bearer abcdef-0123")),
            .message(1, .text(1, "x-api-key"), .text(2, "0123456789abcdef")),
            .message(1, .text(1, "session"), .text(2, "in the morning")))
        #expect(
            GRPCBodies.messages(self.redacted(body).body) == [
                [
                    .message(1, .text(1, "authorization"), .text(2, "Bearer {{authorization:1}}")),
                    .message(1, .text(1, "x-api-key"), .text(2, "{{api-key:1}}")),
                    .message(1, .text(1, "session"), .text(2, "in the morning")),
                ]
            ])
    }

    @Test func JSONInATextLosesTheSecretsItNames() {
        let body = GRPCBodies.frame(.text(1, #"{"password":"hunter2"}"#))
        #expect(GRPCBodies.messages(self.redacted(body).body) == [[.text(1, #"{"password":"{{password:1}}"}"#)]])
    }

    // MARK: Rules

    @Test func aRuleNamesAFieldByNumbers() throws {
        let body = GRPCBodies.frame(.message(1, .text(2, "Jo"), .text(3, "Jo")), .text(2, "Jo"))
        let redacted = self.redacted(body, rules: try Self.rules("grpc:/1/2")).body
        #expect(GRPCBodies.messages(redacted) == [[.message(1, .text(2, "{{grpc:1}}"), .text(3, "Jo")), .text(2, "Jo")]])
    }

    @Test func aRuleForAMessageTakesOutAllThatIsInIt() throws {
        let body = GRPCBodies.frame(.message(1, .text(2, "Jo"), ProtoField(3, .varint(5))), .text(2, "Jo"))
        let redacted = self.redacted(body, rules: try Self.rules("grpc:/1")).body
        #expect(GRPCBodies.messages(redacted) == [[.message(1, .text(2, "{{grpc:1}}"), ProtoField(3, .varint(0))), .text(2, "Jo")]])
    }

    @Test func aRuleNamesAFieldByItsName() throws {
        let message = ProtoMessage(fields: [.message(1, .text(2, "Jo", name: "nick"), name: "user")])
        let redacted = self.redacted(
            GRPCBodies.frame(message.bytes), rules: try Self.rules("grpc:/user/nick"), recorded: [message]
        ).body
        #expect(GRPCBodies.messages(redacted) == [[.message(1, .text(2, "{{nick:1}}"))]])
    }

    @Test func aRuleWithAPatternRedactsItsMatches() throws {
        let body = GRPCBodies.frame(.text(1, "order 1234 of Jo"), .text(2, "order 1234 of Jo"))
        let redacted = self.redacted(body, rules: try Self.rules("grpc:/1=[0-9]+")).body
        #expect(GRPCBodies.messages(redacted) == [[.text(1, "order {{grpc:1}} of Jo"), .text(2, "order 1234 of Jo")]])
    }

    @Test func anExceptionKeepsAField() throws {
        let body = GRPCBodies.frame(.text(1, Self.token))
        #expect(self.redacted(body, rules: try Self.rules(keep: ["grpc:/1"])).body == body)
    }

    @Test(arguments: ["grpc:", "grpc:/", "grpc:1"]) func aRuleWithoutAFieldIsRefused(rule: String) {
        #expect(throws: SettingSyntaxError.self) { try RedactionRule(rule) }
    }

    // MARK: Other messages

    @Test func messagesOfJSONAreRedactedAsJSON() {
        let body = GRPCBodies.frame(Array(#"{"password":"hunter2","a":1}"#.utf8)) + GRPCBodies.frame(Array(#"{"b":"Rex"}"#.utf8))
        let redacted = self.redacted(body, ["content-type: application/grpc+json"]).body
        #expect(
            GRPCBodies.payloads(redacted)?.map { String(decoding: $0, as: UTF8.self) } == [
                #"{"password":"{{password:1}}","a":1}"#, #"{"b":"Rex"}"#,
            ])
    }

    @Test(arguments: ["gzip", "deflate"]) func compressedMessagesAreCodedAgain(coding: String) throws {
        let payload = ProtoMessage(fields: [.text(1, Self.token), .text(2, String(repeating: "plain ", count: 40))]).bytes
        let format: DeflateFormat = coding == "gzip" ? .gzip : .zlib
        let coded = try #require(payload.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 1), format: format) })
        let body = GRPCBodies.frame(coded, isCompressed: true) + GRPCBodies.frame(.text(1, "Rex"))
        let (redacted, _, outcome) = self.redacted(body, Self.headers + ["grpc-encoding: \(coding)"])
        let payloads = try #require(GRPCBodies.payloads(redacted))
        let chain = try #require(DecoderChain([coding == "gzip" ? .gzip : .deflate], limits: InflateLimits()))
        var decoded: [UInt8] = []
        _ = try payloads[0].withUnsafeBytes { try chain.push($0) { decoded.append(contentsOf: $0) } }
        #expect(chain.finish())
        var parser = ProtoParser(fields: 10)
        #expect(parser.parse(decoded)?.fields.first == .text(1, "{{github-token:1}}"))
        #expect(redacted.first == 1)
        #expect(payloads.count == 2)
        #expect(outcome.notes.isEmpty)
    }

    @Test func aMessageOfAnUnknownCodingIsReportedAndSearchedDirectly() {
        let body = GRPCBodies.frame([0xFF] + Array(Self.token.utf8), isCompressed: true)
        let (redacted, _, outcome) = self.redacted(body, Self.headers + ["grpc-encoding: snappy"])
        #expect(!redacted.contains(Array("ghp_".utf8)))
        #expect(redacted.count == body.count)
        #expect(outcome.notes == ["not searched for secrets behind the message coding \"snappy\""])
    }

    @Test func aMessageThatIsNotInItsCodingIsReported() {
        let (redacted, _, outcome) = self.redacted(
            GRPCBodies.frame(Array("no gzip".utf8), isCompressed: true), Self.headers + ["grpc-encoding: gzip"])
        #expect(redacted == GRPCBodies.frame(Array("no gzip".utf8), isCompressed: true))
        #expect(outcome.notes == ["message 1 is not searched for secrets: its coding \"gzip\" is not what it claims"])
    }

    @Test func aBombIsLeftOut() throws {
        let zeros = [UInt8](repeating: 0, count: 4 << 20)
        let bomb = try #require(zeros.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 9), format: .gzip) })
        let (redacted, _, outcome) = self.redacted(GRPCBodies.frame(bomb, isCompressed: true), Self.headers + ["grpc-encoding: gzip"])
        #expect(redacted == [0, 0, 0, 0, 0])
        #expect(outcome.notes == ["message 1 is left out: too long to be searched for secrets"])
    }

    // MARK: Cut bodies

    @Test func ofACutMessageAsMuchIsMissingAsBefore() {
        let whole = GRPCBodies.frame(.text(1, Self.token), .text(2, "a text that is cut somewhere"))
        let redacted = self.redacted(Array(whole.dropLast(10))).body
        let expected = GRPCBodies.frame(.text(1, "{{github-token:1}}"), .text(2, "a text that is cut somewhere"))
        #expect(redacted == Array(expected.dropLast(10)))
    }

    @Test func aFieldThatIsCutIsSearchedToo() {
        let whole = GRPCBodies.frame(.text(1, "Rex"), .text(2, "\(Self.token) and more"))
        let redacted = self.redacted(Array(whole.dropLast(5))).body
        #expect(redacted.count == whole.count - 5)
        #expect(!redacted.contains(Array("ghp_".utf8)))
    }

    @Test func bytesThatAreNoMessageAreSearchedDirectly() {
        let body = [7, 7, 7] + Array(Self.token.utf8)
        let redacted = self.redacted(body).body
        #expect(redacted.count == body.count)
        #expect(!redacted.contains(Array("ghp_".utf8)))
    }

    // MARK: Heads

    @Test func detailsOfAStatusInBase64LoseTheirSecrets() throws {
        let details = ProtoMessage(fields: [ProtoField(1, .varint(16)), .text(2, "bad token \(Self.token)")]).bytes
        var base64: [UInt8] = []
        details.withUnsafeBytes { Base64.encode($0, into: &base64) }
        while base64.last == UInt8(ascii: "=") { base64.removeLast() }
        var response = RecordedResponse(status: 200, headers: HeaderFields(Self.headers))
        response.trailers = HeaderFields([
            "grpc-status: 16", "grpc-message: token%20\(Self.token)%0Arefused",
            "grpc-status-details-bin: \(String(decoding: base64, as: UTF8.self))",
        ])
        var body: WireBody?
        _ = Redactor().redact(response: &response, body: &body)
        let trailers = try #require(response.trailers)
        #expect(trailers.value(at: 1) == "token%20{{github-token:1}}%0Arefused")
        let value = Array(trailers.value(at: 2).utf8)
        let decoded = try #require(Base64.decode(value + Array(repeating: UInt8(ascii: "="), count: (4 - value.count % 4) % 4)))
        var parser = ProtoParser(fields: 10)
        #expect(parser.parse(decoded)?.fields == [ProtoField(1, .varint(16)), .text(2, "bad token {{github-token:1}}")])
    }

    @Test func aSentenceOfAStatusIsSearchedByNamesToo() {
        let lines = RedactionFixtures.lines(["grpc-message: login failed: password=hunter2abc; %2fetc"])
        #expect(lines == ["grpc-message: login failed: password={{password:1}}; %2fetc"])
    }

    // MARK: Streams

    @Test(arguments: [1, 3, 1000]) func aBodyInPiecesIsRedactedAsOneInMemory(size: Int) throws {
        let messages = (0..<50).map { GRPCBodies.frame(.text(1, "message \($0) \(Self.token)"), .message(2, .text(1, "s3cret-0123"))) }
        let body = messages.flatMap { $0 }
        let redactor = Redactor()
        _ = redactor.vault.placeholder(for: Array("s3cret-0123".utf8), kind: "token")
        let messageRedaction = try #require(redactor.messages(GRPCBodies.headers, GRPCSchema()))
        let stream = MessageStream(messageRedaction)
        var redacted: [UInt8] = []
        for start in stride(from: 0, to: body.count, by: size) {
            try body[start..<min(body.count, start + size)].withUnsafeBytes { try stream.push($0) { redacted.append(contentsOf: $0) } }
        }
        try stream.finish { redacted.append(contentsOf: $0) }
        var notes: [String] = []
        let whole = body.withUnsafeBytes { messageRedaction.redacted($0, isComplete: true, notes: &notes) }
        #expect(redacted == EditList(whole.edits).applied(to: body))
        #expect(stream.count == 100)
        #expect(GRPCBodies.payloads(redacted)?.count == 50)
    }

    @Test func aMessageTooLongToBeHeldKeepsItsLength() throws {
        let filler = String(repeating: "x", count: GRPCRedaction.messageLimit)
        let body = GRPCBodies.frame(.text(1, filler), .text(2, " \(Self.token) ")) + GRPCBodies.frame(.text(1, Self.token))
        var redacted: [UInt8] = []
        let outcome = try LiveRedactor(Redactor()).redact(ByteSource(body), headers: GRPCBodies.headers, isComplete: true) {
            redacted.append(contentsOf: $0)
        }
        let payloads = try #require(GRPCBodies.payloads(redacted))
        #expect(payloads[0].count == GRPCRedaction.messageLimit + 5 + 2 + Self.token.utf8.count + 2)
        #expect(payloads[1] == ProtoMessage(fields: [.text(1, "{{github-token:1}}")]).bytes)
        #expect(!redacted.contains(Array("ghp_".utf8)))
        #expect(outcome.notes == ["message 1 of \(payloads[0].count) bytes is searched for secrets by their looks alone"])
    }

    @Test func oneMessageOfALiveStreamIsRedactedAsTheCassetteHasIt() {
        let live = LiveRedactor(Redactor()).forOneRequest()
        _ = live.redacted(headers: HeaderFields(["authorization: Bearer s3cret-0123"]))
        let message = ProtoMessage(fields: [.text(1, "as s3cret-0123")])
        let redacted = live.redacted(message: message.bytes, isCompressed: false, headers: GRPCBodies.headers)
        #expect(redacted?.bytes == ProtoMessage(fields: [.text(1, "as {{authorization:1}}")]).bytes)
        #expect(redacted?.isCompressed == false)
        #expect(
            live.redacted(message: ProtoMessage(fields: [.text(1, "Rex")]).bytes, isCompressed: false, headers: GRPCBodies.headers) == nil)
    }

    // MARK: Properties

    /// Any tree with a known secret in some of its texts: the secret is gone, the rest stays, and the result is a valid tree.
    @Test(arguments: 0..<40) func noKnownSecretSurvivesAndTheRestStays(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let secret = "q\(random.next())Z"
        func tree(_ depth: Int, _ hole: String) -> ProtoMessage { self.tree(depth, hole, seed: seed) }
        let body = GRPCBodies.frame(tree(3, secret).bytes)
        let (redacted, _, _) = self.redacted(body, Self.headers + ["authorization: Bearer \(secret)"])
        #expect(!redacted.contains(Array(secret.utf8)))
        #expect(redacted == GRPCBodies.frame(tree(3, "{{authorization:1}}").bytes))
    }

    private func tree(_ depth: Int, _ hole: String, seed: UInt64) -> ProtoMessage {
        var random = SeededGenerator(seed: seed)
        func message(_ depth: Int) -> ProtoMessage {
            ProtoMessage(
                fields: (0..<Int.random(in: 1...5, using: &random)).map { index in
                    let number = Int.random(in: 1...40, using: &random)
                    switch Int.random(in: 0..<(depth > 0 ? 6 : 5), using: &random) {
                    case 0: return ProtoField(number, .varint(random.next() >> 20))
                    case 1: return ProtoField(number, .fixed32(UInt32(truncatingIfNeeded: random.next())))
                    case 2: return ProtoField(number, .text(Array("plain \(index)".utf8)))
                    case 3: return ProtoField(number, .text(Array("before \(hole) after".utf8)))
                    case 4: return ProtoField(number, .bytes([0xFF, 0, UInt8(index)]))
                    default: return ProtoField(number, .message(message(depth - 1)))
                    }
                })
        }
        return message(depth)
    }

    @Test func anyBytesCanBeRedacted() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            var body = (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            if body.count > 5 { body.replaceSubrange(0..<5, with: [0, 0, 0, 0, UInt8.random(in: 0...60, using: &random)]) }
            let (redacted, _, outcome) = self.redacted(body)
            #expect(outcome.isChanged || redacted == body)
        }
    }

    // MARK: gRPC-Web and Connect

    private static func frame(_ flags: UInt8, _ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return [flags] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
    }

    /// A reader takes as many bytes as the length says, so that a wrong one makes it read into the next message.
    @Test(arguments: [
        ("application/connect+json", UInt8(2), "{\"metadata\": {\"x-token\": [\"TOKEN\"]}}"),
        ("application/connect+json; charset=utf-8", 2, "{}"), ("application/grpc-web+json", 0x80, "grpc-status: 0\r\nx-token: TOKEN\r\n"),
        ("application/grpc+json", 0, ""),
    ])
    func lengthsOfMessagesInJSONFit(type: String, end: UInt8, last: String) {
        func body(_ token: String) -> [UInt8] {
            let messages = [0, 1, 2].flatMap { Self.frame(0, "{\"i\": \($0), \"token\": \"\(token)\"}") }
            return end == 0 ? messages : messages + Self.frame(end, last.replacing("TOKEN", with: token))
        }
        let (redacted, _, outcome) = self.redacted(body(Self.token), ["content-type: \(type)"])
        #expect(redacted == body("{{token:1}}"))
        #expect(outcome.notes.isEmpty)
    }

    @Test(arguments: [
        ("application/connect+proto", "connect-content-encoding: gzip"), ("application/grpc-web", "grpc-encoding: gzip"),
        ("application/grpc-web+proto", "grpc-encoding: gzip"),
    ])
    func messagesOfAnotherProtocolAreReadAsThoseOfGRPC(type: String, coding: String) {
        let message = ProtoMessage(fields: [.text(2, "before"), .text(1, Self.token)]).bytes
        let plain = GRPCBodies.frame(.text(2, "before"), .text(1, Self.token))
        let (redacted, _, outcome) = self.redacted(plain, ["content-type: \(type)"])
        #expect(GRPCBodies.messages(redacted) == [[.text(2, "before"), .text(1, "{{github-token:1}}")]])
        #expect(outcome.notes.isEmpty)

        let coded = RedactionFixtures.gzip(message)
        let (other, _, found) = self.redacted(GRPCBodies.frame(coded, isCompressed: true), ["content-type: \(type)", coding])
        #expect(found.count == 1 && found.notes.isEmpty, "\(found)")
        let length = other[1..<5].reduce(0) { $0 << 8 | Int($1) }
        #expect(other[0] == 1 && length == other.count - 5)
        #expect(GzipText.gunzip(Array(other[5...])).contains("{{github-token:1}}"))
    }
}

extension [UInt8] {
    fileprivate func contains(_ other: [UInt8]) -> Bool {
        self.withUnsafeBytes { bytes in
            guard other.count <= bytes.count else { return false }
            return (0...bytes.count - other.count).contains { bytes[$0..<$0 + other.count].elementsEqual(other) }
        }
    }
}
