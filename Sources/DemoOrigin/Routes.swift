internal import CZlib
internal import NIOConcurrencyHelpers
internal import NIOHTTP1

/// The origin's pages: a request in, an answer out.
///
/// Knows no sockets and no time. Every answer carries a number that counts up, so that a replayed answer can be told from a new one.
struct Routes: Sendable {
    private let image: [UInt8]
    private let album: [UInt8]
    private let compressedPets: [UInt8]
    private let answered = NIOLockedValueBox(0)

    init() throws {
        self.image = try PNGImage(width: 64, height: 64, seed: 7).bytes()
        // Some 300 KB.
        self.album = try PNGImage(width: 320, height: 320, seed: 11).bytes()
        self.compressedPets = try Deflater.gzip(Array(Self.pets.utf8))
    }

    func answer(to request: HTTPRequestHead, body: [UInt8]) -> Answer {
        var answer = self.page(for: request, body: body)
        let number = self.answered.withLockedValue { count in
            count += 1
            return count
        }
        answer.headers.add(name: "Server", value: "demo-origin")
        answer.headers.add(name: "X-Answer", value: "\(number)")
        return answer
    }

    private func page(for request: HTTPRequestHead, body: [UInt8]) -> Answer {
        let path = request.uri.prefix { $0 != "?" }
        if path == "/echo" { return Self.echo(request, body: body) }
        if request.method == .POST {
            switch path {
            case "/pets" where Self.isJSON(request): return PetPages.create(body: body)
            case "/pets": return Self.upload(request, body: body)
            case "/login": return Login.login(body: body)
            case "/refresh": return Login.refresh(body: body)
            default: break
            }
        }
        if path.hasPrefix("/pets/") { return PetPages.answer(request.method, id: String(path.dropFirst("/pets/".count)), body: body) }
        guard request.method == .GET || request.method == .HEAD else {
            return Answer(.methodNotAllowed, text: "\(request.method) is not for \(path)\n", headers: ["Allow": "GET, HEAD"])
        }
        switch path {
        case "/pets":
            return Answer(.ok, json: Self.pets)
        case "/pets.gz":
            return Answer(.ok, "application/json", self.compressedPets, headers: ["Content-Encoding": "gzip", "Vary": "Accept-Encoding"])
        case "/image.png":
            return Answer(.ok, "image/png", self.image, headers: ["Cache-Control": "max-age=60"])
        case "/album":
            return Answer(.ok, "image/png", self.album, headers: ["Content-Disposition": Self.albumName])
        case "/me":
            return Login.me(authorization: request.headers.first(name: "Authorization"))
        case "/events":
            var answer = Answer(.ok, "text/event-stream", [], headers: ["Cache-Control": "no-store"])
            answer.pieces = Self.events.map { Array($0.utf8) }
            return answer
        case "/old":
            return Answer(.found, text: "moved to /pets\n", headers: ["Location": "/pets"])
        case "/stream":
            var answer = Answer(.ok, "text/event-stream", [])
            answer.pieces = (1...5).map { Array("data: piece \($0)\n\n".utf8) }
            return answer
        default:
            return Answer(.notFound, text: "no page \(path)\n")
        }
    }

    private static func isJSON(_ request: HTTPRequestHead) -> Bool {
        let type = request.headers.first(name: "Content-Type") ?? ""
        return type.prefix { $0 != ";" && $0 != " " }.lowercased() == "application/json"
    }

    private static func echo(_ request: HTTPRequestHead, body: [UInt8]) -> Answer {
        var lines = "\(request.method) \(request.uri) \(request.version)\n"
        for (name, value) in request.headers { lines += "\(name): \(value)\n" }
        return Answer(.ok, "text/plain; charset=utf-8", Array((lines + "\n").utf8) + body)
    }

    private static func upload(_ request: HTTPRequestHead, body: [UInt8]) -> Answer {
        do {
            let upload = try MultipartUpload(contentType: request.headers.first(name: "Content-Type") ?? "", body: body)
            return Answer(.created, json: upload.json, headers: ["Location": "/pets/4"])
        } catch {
            return Answer(.badRequest, text: "\(error.message)\n")
        }
    }

    /// For clients old and new (RFC 6266, 4.3).
    static let albumName = "attachment; filename=\"album.png\"; filename*=UTF-8''%EB%B3%B4%EB%A6%AC.png"

    /// Server-sent events, a piece each: a comment, a name, lines that belong together, and one that is cut in the middle.
    static let events = [
        "retry: 1500\n: the shop is open\n\n",
        "id: 1\nevent: arrived\ndata: {\"pet\": \"Miso\"}\n\n",
        "id: 2\nevent: arrived\ndata: {\"pet\":\ndata:  \"보리\"}\n\n",
        "id: 3\nevent: adop", "ted\ndata: {\"pet\": \"Miso\"}\n\n",
        "id: 4\nevent: closed\ndata: {}\n\n",
    ]

    static let pets = """
        {
          "pets": [
            {"id": 1, "name": "Miso", "kind": "cat", "weight": 4.20, "tags": ["small", "asleep"]},
            {"id": 2, "name": "보리", "kind": "dog", "weight": 1.15e1, "tags": []},
            {"id": 3, "name": "Zoë \\"Zip\\" 🦎", "kind": "gecko", "weight": null, "big": 12345678901234567890}
          ]
        }

        """
}

/// The parts of a multipart/form-data body (RFC 7578), as the origin reports them back.
///
/// Keeps sizes and checksums, and the text of plain fields; no file content.
struct MultipartUpload: Sendable, Equatable {
    struct Part: Sendable, Equatable {
        var name: String
        var filename: String?
        var type: String?
        var size: Int
        var crc32: UInt32
        /// The content of a field that is no file, where it is UTF-8.
        var text: String?
    }

    struct Refusal: Error, Equatable {
        var message: String
    }

    /// A form of the demo has three; the limit keeps the answer short.
    static let partLimit = 100

    private(set) var parts: [Part] = []

    init(contentType: String, body: [UInt8]) throws(Refusal) {
        guard let boundary = Self.boundary(of: contentType) else {
            throw Refusal(message: "want multipart/form-data with a boundary, not \"\(contentType)\"")
        }
        let delimiter = Array("\r\n--\(boundary)".utf8)
        // The first delimiter may stand at the very start, without the line end before it.
        let bytes = [13, 10] + body
        guard var open = Self.find(delimiter, in: bytes, from: 0) else {
            throw Refusal(message: "the body has no part that starts with --\(boundary)")
        }
        while true {
            let start = open + delimiter.count
            if bytes[start...].starts(with: Array("--".utf8)) { return }
            guard let next = Self.find(delimiter, in: bytes, from: start) else {
                throw Refusal(message: "the body ends before its last part is closed")
            }
            guard self.parts.count < Self.partLimit else {
                throw Refusal(message: "more than \(Self.partLimit) parts")
            }
            self.parts.append(try Self.part(bytes[start..<next]))
            open = next
        }
    }

    /// A JSON document naming every part.
    var json: String {
        let parts = self.parts.map { part in
            var members = ["\"name\": \(Self.quoted(part.name))"]
            if let filename = part.filename { members.append("\"filename\": \(Self.quoted(filename))") }
            if let type = part.type { members.append("\"type\": \(Self.quoted(type))") }
            members.append("\"size\": \(part.size)")
            members.append("\"crc32\": \(part.crc32)")
            if let text = part.text { members.append("\"text\": \(Self.quoted(text))") }
            return "{" + members.joined(separator: ", ") + "}"
        }
        return "{\"parts\": [" + parts.joined(separator: ", ") + "]}\n"
    }

    /// RFC 2046, 5.1.1: a boundary has 1 to 70 characters.
    private static func boundary(of contentType: String) -> String? {
        let pieces = contentType.split(separator: ";")
        guard pieces.first?.lowercased() == "multipart/form-data" else { return nil }
        guard let value = self.parameter("boundary", in: pieces.dropFirst()), (1...70).contains(value.utf8.count) else { return nil }
        return value
    }

    private static func parameter(_ name: String, in pieces: some Sequence<Substring>) -> String? {
        for piece in pieces {
            let pair = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, pair[0].trimmed.lowercased() == name else { continue }
            let value = pair[1].trimmed
            return value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"") ? String(value.dropFirst().dropLast()) : String(value)
        }
        return nil
    }

    /// What stands between two delimiters: the rest of the delimiter's line, a header section, an empty line, the content.
    private static func part(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> Part {
        let all = Array(bytes)
        guard let end = self.find(Array("\r\n\r\n".utf8), in: all, from: 0) else {
            throw Refusal(message: "a part has no empty line behind its header fields")
        }
        var part = Part(name: "", size: 0, crc32: 0)
        for line in String(decoding: all[..<end], as: UTF8.self).split(whereSeparator: \.isNewline) {
            let pair = line.split(separator: ":", maxSplits: 1)
            guard pair.count == 2 else { continue }
            let pieces = pair[1].split(separator: ";")
            switch pair[0].lowercased() {
            case "content-disposition":
                part.name = self.parameter("name", in: pieces) ?? ""
                part.filename = self.parameter("filename", in: pieces)
            case "content-type":
                part.type = String(pair[1].trimmed)
            default:
                continue
            }
        }
        let content = Array(all[(end + 4)...])
        part.size = content.count
        part.crc32 = UInt32(truncatingIfNeeded: CZlib.crc32(0, content, uInt(content.count)))
        let text = String(decoding: content, as: UTF8.self)
        if part.filename == nil, text.utf8.elementsEqual(content) { part.text = text }
        return part
    }

    private static func find(_ pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index <= bytes.count - pattern.count {
            if bytes[index] == pattern[0], bytes[index..<index + pattern.count].elementsEqual(pattern) { return index }
            index += 1
        }
        return nil
    }

    private static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                out += "\\"
                out.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default:
                out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = self.drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return start }
        return start[...last]
    }
}
