internal import NIOConcurrencyHelpers
internal import NIOHTTP1

/// The origin's pages: take a request and return an answer.
///
/// Has no sockets and no clock. Every answer has an increasing number, which distinguishes a replayed answer from a new one.
struct Routes: Sendable {
    private let image: [UInt8]
    private let album: [UInt8]
    private let compressedPets: [UInt8]
    private let answered = NIOLockedValueBox(0)

    init() throws {
        self.image = try PNGImage(width: 64, height: 64, seed: 7).bytes()
        // About 300 KB.
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

    /// Also includes a name for old clients (RFC 6266, 4.3).
    static let albumName = "attachment; filename=\"album.png\"; filename*=UTF-8''%EB%B3%B4%EB%A6%AC.png"

    /// Server-sent events, one in each piece: a comment, a name, several data lines, and an event that is split in the middle.
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

/// The origin's answer to one request. `OriginHandler` frames it.
struct Answer: Sendable, Equatable {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders
    /// A single piece is sent with a length; several pieces are sent as chunks with a pause between them.
    var pieces: [[UInt8]]

    init(_ status: HTTPResponseStatus, _ type: String, _ body: [UInt8], headers: HTTPHeaders = [:]) {
        self.status = status
        self.headers = ["Content-Type": type]
        self.headers.add(contentsOf: headers)
        self.pieces = [body]
    }

    init(_ status: HTTPResponseStatus, text: String, headers: HTTPHeaders = [:]) {
        self.init(status, "text/plain; charset=utf-8", Array(text.utf8), headers: headers)
    }

    init(_ status: HTTPResponseStatus, json: String, headers: HTTPHeaders = [:]) {
        self.init(status, "application/json", Array(json.utf8), headers: headers)
    }
}
