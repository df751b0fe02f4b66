import Foundation
import TapeTestSupport
import Testing

@testable import CassetteModel
@testable import TapeBytes

/// Bodies of real programs: each is read without a finding and written again, and other parsers read the same parts.
struct ProducerTests {
    private static func fields() throws -> [ProducedBody.Part] {
        let fields = try JSONDecoder().decode([[String?]].self, from: Data(ProducerScripts.fields.utf8))
        return fields.map { ProducedBody.Part(name: $0[0], filename: $0[1], data: Data(base64Encoded: $0[2] ?? "") ?? Data()) }
    }

    private static func produce(_ command: [String]) throws -> [ProducedBody] {
        try JSONDecoder().decode([ProducedBody].self, from: MultipartPrograms.run(command, input: Data(ProducerScripts.fields.utf8)))
    }

    /// `allowed`: the findings of the lint that the producer does cause.
    private func check(_ produced: ProducedBody, allowed: Set<MultipartProblem.Kind> = [], folds: Bool = false) throws {
        let bytes = produced.bytes
        let type = try #require(MultipartType(Array(produced.type.utf8)))
        let boundary = try #require(type.boundary)
        let body = try #require(bytes.withUnsafeBytes { MultipartBody.parse($0, boundary: boundary) })
        #expect(bytes.withUnsafeBytes { MultipartSerializer.bytes(body, source: $0) } == bytes)
        #expect(folds || body.parts.allSatisfy { $0.headers.canonicalLines != nil })
        let headers = HeaderFields(["Content-Type: \(produced.type)"])
        let problems = bytes.withUnsafeBytes { MultipartLint.problems(headers: headers, body: $0) }
        #expect(problems.filter { !allowed.contains($0.kind) } == [], "\(produced.name)")
    }

    /// The first bytes of a PNG in the fields are followed by a line end, which the lint may report.
    private static let doubled: Set<MultipartProblem.Kind> = [.lineEndDoubled]

    @Test(.enabled(if: MultipartPrograms.curl != nil), arguments: [[], ["--form-escape"]])
    func curlsBodies(_ options: [String]) throws {
        let curl = try #require(MultipartPrograms.curl)
        let bodies = try Self.produce(["/usr/bin/env", "python3", "-c", ProducerScripts.curl, curl, "curl"] + options)
        let body = try #require(bodies.first)
        #expect(body.parts == (try Self.fields()))
        try self.check(body, allowed: Self.doubled)
    }

    @Test(.enabled(if: MultipartPrograms.node != nil)) func nodesBodies() throws {
        let node = try #require(MultipartPrograms.node)
        let body = try #require(try Self.produce([node, "-e", ProducerScripts.node]).first)
        #expect(body.parts == (try Self.fields()))
        try self.check(body, allowed: Self.doubled.union([.lastLineEndMissing]))
    }

    @Test(.enabled(if: MultipartPrograms.chromium != nil)) func chromiumsBodies() throws {
        let chromium = try #require(MultipartPrograms.chromium)
        let body = try #require(try Self.produce(["/usr/bin/env", "python3", "-c", ProducerScripts.chromium, chromium]).first)
        #expect(body.parts == (try Self.fields()))
        try self.check(body, allowed: Self.doubled)
    }

    /// On a page that is not UTF-8, a browser sends the charset in the field that asks for it.
    @Test(.enabled(if: MultipartPrograms.chromium != nil)) func chromiumsBodiesInKorean() throws {
        let chromium = try #require(MultipartPrograms.chromium)
        let fields = #"[["_charset_", null, ""], ["음식", null, "7J2M7Iud"], ["plain", null, "YQ=="], ["file", "음식.txt", "wL0="]]"#
        let output = try MultipartPrograms.run(
            ["/usr/bin/env", "python3", "-c", ProducerScripts.chromium, chromium, "euc-kr"], input: Data(fields.utf8))
        let produced = try #require(try JSONDecoder().decode([ProducedBody].self, from: output).first)
        let (body, text) = try produced.recorded()
        #expect(
            body.parts.map(\.content) == [
                .data(.text(Array("EUC-KR".utf8))), .data(.encodedText([0xC0, 0xBD, 0xBD, 0xC4], .eucKR)), .data(.text([97])),
                .data(.binary([0xC0, 0xBD])),
            ])
        #expect(text.contains("\"name\": \"음식\"") && text.contains("\"filename\": \"음식.txt\""))
    }

    @Test func mailsAttachments() throws {
        let bodies = try Self.produce(["/usr/bin/env", "python3", "-c", ProducerScripts.mail])
        #expect(bodies.map(\.name) == ["mail", "mail of long lines", "old mail"])
        let long = String(repeating: "음식과 반려동물에 관한 긴 글 = . ", count: 9) + "\r\n둘째 줄 \r\n.\r\n"
        for produced in bodies {
            try self.check(produced, allowed: Self.doubled, folds: true)
            let (body, _) = try produced.recorded()
            let texts = body.parts.map { part -> String? in
                guard case .data(.transferEncoded(let content, _)) = part.content else { return nil }
                switch content {
                case .encodedText(let bytes, let charset): return charset.decode(bytes).map { String(decoding: $0, as: UTF8.self) }
                default: return content.bodyContent.inlineBytes.map { String(decoding: $0, as: UTF8.self) }
                }
            }
            guard produced.name != "old mail" else {
                #expect(texts == [String(repeating: "음식 ", count: 60), String(repeating: "é ", count: 60) + "\r\n"])
                #expect(produced.parts?.map(\.filename) == ["음식.txt", "é .txt"])
                continue
            }
            // The bytes of an image are no more readable than their base64.
            #expect(texts == [long, long, #"{"a": 1}"#, nil], "\(produced.name)")
            #expect(
                produced.parts?.map(\.filename) == [nil, "아주 긴 이름을 가진 첨부 파일입니다 정말로 아주 길어요.txt", "a.json", "사진.png"], "\(produced.name)")
        }
    }

    @Test(.enabled(if: MultipartPrograms.python != nil)) func pythonsBodies() throws {
        let python = try #require(MultipartPrograms.python)
        let bodies = try Self.produce([python, "-c", ProducerScripts.packages])
        #expect(bodies.map(\.name) == ["urllib3", "requests", "aiohttp", "aiohttp without quoting"])
        for body in bodies {
            try self.check(body, allowed: Self.doubled)
            let parts = try #require(body.parts)
            #expect(parts.map(\.data) == (try Self.fields()).map(\.data), "\(body.name)")
            // The other producers quote names in a way that no reader undoes.
            if body.name == "urllib3" || body.name == "requests" { #expect(parts == (try Self.fields()), "\(body.name)") }
        }
    }

    @Test(.enabled(if: MultipartPrograms.python != nil)) func otherParsersFindTheSameParts() throws {
        let python = try #require(MultipartPrograms.python)
        var bodies = try Self.produce([python, "-c", ProducerScripts.packages])
        if let node = MultipartPrograms.node { bodies += try Self.produce([node, "-e", ProducerScripts.node]) }
        if let curl = MultipartPrograms.curl { bodies += try Self.produce([python, "-c", ProducerScripts.curl, curl, "curl"]) }
        if let chromium = MultipartPrograms.chromium { bodies += try Self.produce([python, "-c", ProducerScripts.chromium, chromium]) }
        var generator = SeededGenerator(seed: 8)
        for _ in 0..<100 {
            let body = try RandomMultipart.body(using: &generator, depth: 1)
            guard !body.parts.isEmpty else { continue }
            let type = "multipart/form-data; boundary=" + String(decoding: body.boundary.bytes, as: UTF8.self)
            bodies.append(ProducedBody(name: "ours", type: type, body: Data(MultipartSerializer.bytes(body))))
        }
        let output = try MultipartPrograms.run([python, "-c", ProducerScripts.parsers], input: try JSONEncoder().encode(bodies))
        let found = try JSONDecoder().decode([[String: [ProducedBody.Part]]].self, from: output)
        #expect(found.count == bodies.count)
        for (body, parsers) in zip(bodies, found) {
            let ours = try #require(body.parts).map(Self.comparable)
            for (parser, parts) in parsers {
                #expect(parts.map(Self.comparable) == ours, "\(body.name) read by \(parser)")
            }
        }
    }

    /// Readers decode different percent escapes, and python-multipart drops a backslash that browsers write as is.
    private static func comparable(_ part: ProducedBody.Part) -> ProducedBody.Part {
        func plain(_ text: String?) -> String? {
            let replacements = [("%22", "\""), ("%0D", "\r"), ("%0A", "\n"), ("\\", "")]
            return text.map { replacements.reduce($0) { $0.replacingOccurrences(of: $1.0, with: $1.1) } }
        }
        return ProducedBody.Part(name: plain(part.name), filename: plain(part.filename), data: part.data)
    }
}
