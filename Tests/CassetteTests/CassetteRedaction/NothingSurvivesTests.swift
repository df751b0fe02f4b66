import TapeTestSupport
import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteRedaction
@testable import TapeBytes

/// A seeded corpus of secrets, planted in every place and spelling of generated exchanges.
@Suite struct NothingSurvivesTests {
    private struct Planted {
        var interaction: Interaction
        var request: WireBody?
        var response: WireBody?
        var secrets: [[UInt8]]
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func isPlain(_ bytes: [UInt8]) -> Bool {
        !bytes.contains(UInt8(ascii: "\"")) && !bytes.contains(UInt8(ascii: "\\"))
    }

    /// Members that repeat a secret in other spellings.
    private static func echoes(_ secret: [UInt8]) -> [String] {
        var echoes: [String] = []
        for spelling in SecretCorpus.spellings(secret).prefix(9) {
            let value = Self.isPlain(spelling) ? spelling : SecretCorpus.json(spelling)
            echoes.append("\"e\": \"" + Self.text(value) + "\"")
        }
        for alignment in 0..<3 {
            let bytes: [UInt8] = Array(repeating: 0x78, count: alignment) + secret + [0x21]
            echoes.append("\"b\": \"" + Self.text(SecretCorpus.base64(bytes)) + "\"")
        }
        return echoes
    }

    private static func json(_ secrets: [[UInt8]], _ random: inout SeededGenerator) -> [UInt8] {
        let echoes = secrets.flatMap(Self.echoes).shuffled(using: &random).joined(separator: ", ")
        let access = Self.text(SecretCorpus.json(secrets[0]))
        let password = Self.text(SecretCorpus.json(secrets[1], unicode: true))
        let refresh = Self.text(SecretCorpus.json(secrets[4]))
        var text = "{\"access_token\": \"\(access)\", "
        text += "\"n\": [1, {\"password\":\"\(password)\"}], "
        text += "\"refresh_token\": \"\(refresh)\", "
        text += echoes
        text += "}"
        return Array(text.utf8)
    }

    private static func multipart(_ secrets: [[UInt8]]) -> [UInt8] {
        let content: [UInt8] = Array("before ".utf8) + secrets[1] + Array(" behind".utf8)
        let mail = SecretCorpus.base64(content)
        var text = "--xyz\r\nContent-Disposition: form-data; name=\"client_secret\"\r\n\r\n"
        text += Self.text(secrets[2])
        text += "\r\n--xyz\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nx "
        text += Self.text(secrets[0])
        text += " y\r\n--xyz\r\nContent-Disposition: form-data; name=\"m\"\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        text += Self.text(Array(mail.prefix(20))) + "\r\n" + Self.text(Array(mail.dropFirst(20)))
        text += "\r\n--xyz--\r\n"
        return Array(text.utf8)
    }

    private static func request(_ secrets: [[UInt8]], _ random: inout SeededGenerator) -> (type: String, body: [UInt8]) {
        var text = ""
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            text = "a=1&client_secret=" + Self.text(SecretCorpus.percent(secrets[2], plus: true))
            text += "&x=" + Self.text(SecretCorpus.percent(secrets[0]))
            return ("application/x-www-form-urlencoded", Array(text.utf8))
        case 1: return ("multipart/form-data; boundary=xyz", Self.multipart(secrets))
        default:
            text = "{\"client_secret\":\"" + Self.text(SecretCorpus.json(secrets[2]))
            text += "\",\"q\":\"" + Self.text(SecretCorpus.json(SecretCorpus.html(secrets[1]))) + "\"}"
            return ("application/json", Array(text.utf8))
        }
    }

    private static func planted(_ random: inout SeededGenerator) -> Planted {
        var secrets = (0..<5).map { _ in SecretCorpus.secret(&random) }
        // A token in the form of RFC 6750.
        let marks = Set(",;\"= ".utf8)
        secrets[3] = secrets[3].filter { !marks.contains($0) }
        let (type, request) = Self.request(secrets, &random)
        var response = Self.json(secrets, &random)
        let field = secrets[3]
        var lines = ["Content-Type: application/json", "X-Echo: " + Self.text(SecretCorpus.percent(field))]
        switch Int.random(in: 0..<3, using: &random) {
        case 1:
            response = RedactionFixtures.gzip(response)
            lines.append("Content-Encoding: gzip")
        case 2:
            response = response.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .zlib) } ?? []
            lines.append("Content-Encoding: deflate")
        default: break
        }
        let path = Self.text(SecretCorpus.percent(secrets[0]))
        let token = Self.text(SecretCorpus.percent(secrets[4]))
        let headers = HeaderFields([
            "Content-Type: \(type)", "Authorization: Bearer " + Self.text(field), "Content-Length: \(request.count)",
        ])
        let interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0),
            request: RecordedRequest(method: "POST", url: "https://e.com/p/" + path + "?token=" + token, headers: headers),
            response: RecordedResponse(status: 200, headers: HeaderFields(lines)))
        return Planted(
            interaction: interaction, request: WireBody(request), response: WireBody(response),
            secrets: secrets)
    }

    private static func decoded(_ planted: Planted) -> [UInt8] {
        let wire = planted.response?.bytes ?? []
        guard case .coded(let names) = ContentEncoding(planted.interaction.response?.headers ?? HeaderFields()) else { return wire }
        var bytes: [UInt8] = []
        let chain = DecoderChain(names, limits: InflateLimits())
        wire.withUnsafeBytes { _ = try? chain?.push($0) { bytes.append(contentsOf: $0) } }
        return chain?.finish() == true ? bytes : []
    }

    /// The kinds of tokens, to compare the structure of two texts.
    private static func structure(_ json: [UInt8]) -> [JSONToken.Kind]? {
        json.withUnsafeBytes { bytes in
            var tokenizer = JSONTokenizer(bytes)
            var kinds: [JSONToken.Kind] = []
            while let token = tokenizer.next() {
                if token.kind == .end { return kinds }
                kinds.append(token.kind)
            }
            return nil
        }
    }

    @Test(arguments: 0..<rounds(100)) func nothingSurvivesInAnySpelling(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let before = Self.planted(&random)
        var after = before
        let vault = SecretVault()
        _ = Redactor(vault: vault).redact(&after.interaction, requestBody: &after.request, responseBody: &after.response)
        let content = Self.decoded(after)
        let texts = [
            Array(after.interaction.request.url.utf8), Array(after.interaction.request.headers.bytes),
            Array(after.interaction.response?.headers.bytes ?? []),
            after.request?.bytes ?? [], content,
        ]
        for secret in before.secrets {
            for spelling in SecretCorpus.spellings(secret) where spelling.count > 5 {
                for (index, text) in texts.enumerated() {
                    #expect(
                        !SecretCorpus.contains(spelling, in: text),
                        "\(Self.text(secret)) as \(Self.text(spelling)) in \(index): \(Self.text(text))")
                }
            }
        }
        for text in texts { #expect(try LeakScan(vault).leaks(in: ByteSource(text)) == []) }
        #expect(Self.structure(content) == Self.structure(Self.decoded(before)))
        #expect(Self.structure(content) != nil)
        #expect(after.interaction.request.headers.first("content-length") == "\(after.request?.bytes.count ?? 0)")
    }

    @Test(arguments: 0..<60) func aSecondRedactionChangesNothing(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var once = Self.planted(&random)
        let redactor = Redactor()
        _ = redactor.redact(&once.interaction, requestBody: &once.request, responseBody: &once.response)
        var twice = once
        _ = redactor.redact(&twice.interaction, requestBody: &twice.request, responseBody: &twice.response)
        #expect(twice.interaction == once.interaction)
        #expect(twice.request == once.request)
        #expect(twice.response == once.response)
        // A redactor without any knowledge changes nothing either.
        var stranger = once
        _ = Redactor().redact(&stranger.interaction, requestBody: &stranger.request, responseBody: &stranger.response)
        #expect(stranger.interaction == once.interaction)
        #expect(stranger.request == once.request)
    }

    @Test(arguments: 0..<30) func aLiveRequestIsRedactedAsTheRecordedOne(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let live = Self.planted(&random)
        var recorded = live
        let vault = SecretVault()
        _ = Redactor(vault: vault).redact(&recorded.interaction, requestBody: &recorded.request, responseBody: &recorded.response)
        let redactor = LiveRedactor(Redactor(vault: vault))
        let request = live.interaction.request
        #expect(redactor.redacted(url: request.url) ?? request.url == recorded.interaction.request.url)
        let headers = redactor.redacted(headers: request.headers) ?? request.headers
        #expect(headers.removing("content-length") == recorded.interaction.request.headers.removing("content-length"))
        let body = live.request?.bytes ?? []
        #expect(redactor.redacted(body: body, headers: request.headers) ?? body == recorded.request?.bytes)
    }

    @Test(arguments: 0..<rounds(15)) func aBodyInPiecesIsRedactedAsOneInMemory(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let secrets = (0..<4).map { _ in SecretCorpus.secret(&random) }
        var text = Array("{\"access_token\":\"".utf8) + SecretCorpus.json(secrets[0]) + Array("\",\"rest\":[".utf8)
        while text.count < 2_600_000 {
            let secret = secrets[Int.random(in: 0..<4, using: &random)]
            text += Array(repeating: UInt8(ascii: " "), count: Int.random(in: 0..<9000, using: &random))
            switch Int.random(in: 0..<3, using: &random) {
            case 0: text += Array("{\"password\":\"".utf8) + SecretCorpus.json(secret) + Array("\"},".utf8)
            case 1: text += Array("\"".utf8) + SecretCorpus.base64(secret) + Array("\",".utf8)
            default: text += Array("\"".utf8) + SecretCorpus.json(secret) + Array("\",".utf8)
            }
        }
        text += Array("0]}".utf8)
        let headers = HeaderFields(["Content-Type: application/json"])
        let vault = SecretVault()
        let memory = text
        let source = ByteSource(size: text.count) { offset, buffer in
            let count = min(buffer.count, 60_000, memory.count - offset)
            memory.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
            return count
        }
        var bytes: [UInt8] = []
        let outcome = try Redactor(vault: vault).redact(source, headers: headers, isComplete: true) { bytes.append(contentsOf: $0) }
        #expect(outcome.isBodyChanged)
        #expect(bytes == RedactionFixtures.bytes(text, ["Content-Type: application/json"], vault: vault))
    }
}
