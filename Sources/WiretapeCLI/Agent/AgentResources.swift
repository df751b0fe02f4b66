internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes
internal import TapeProxy

/// The recorded bodies as resources of the Model Context Protocol, for agents that read a body as a whole.
///
/// A URI is `wiretape://FILE/NUMBER/SIDE`, with the name of the cassette, the number of the exchange, and `request` or `response`. The query
/// `pointer` chooses a value by a JSON Pointer (RFC 6901). Text is framed as in the answers of tools.
struct AgentResources {
    /// A longer body is read in pieces, by the tool `show`.
    static let bodyLimit = 4 << 20
    /// Of one page of the list.
    private static let pageLimit = 100
    private static let scheme = "wiretape://"

    /// The resource that is asked for does not exist.
    struct Missing: Error {
        var message: String
    }

    private let files: AgentFiles
    private let untrusted: UntrustedText

    init(files: AgentFiles, untrusted: UntrustedText) {
        self.files = files
        self.untrusted = untrusted
    }

    /// The members of a list: a page of the bodies of all cassettes. The names contain nothing that was recorded.
    ///
    /// - Parameter cursor: where the page begins, as the page before says.
    func list(_ cursor: String?, _ writer: inout JSONWriter) throws {
        let names = self.files.names
        let start = (cursor ?? "0:0").split(separator: ":").map { Int($0) }
        guard start.count == 2, let first = start[0], var index = start[1], (0...names.count).contains(first), index >= 0 else {
            throw SettingSyntaxError("there is no such cursor: leave it out for the first page")
        }
        writer.member("resources")
        writer.beginArray(.inline)
        var (count, next): (Int, String?) = (0, nil)
        search: for (position, name) in names.enumerated().dropFirst(first) {
            // Tools say why a cassette cannot be read.
            guard let cassette = try? self.files.cassette(name) else { continue }
            while index < cassette.count {
                guard count < Self.pageLimit else {
                    next = "\(position):\(index)"
                    break search
                }
                let interaction = try? cassette.interaction(at: index)
                for (side, body) in [("request", interaction?.request.body), ("response", interaction?.response?.body)] {
                    guard let body, body.byteCount > 0 else { continue }
                    Self.write(name, index + 1, side, size: body.byteCount, &writer)
                    count += 1
                }
                index += 1
            }
            index = 0
        }
        writer.endArray()
        guard let next else { return }
        writer.member("nextCursor")
        writer.string(next)
    }

    private static func write(_ name: String, _ number: Int, _ side: String, size: Int, _ writer: inout JSONWriter) {
        writer.element()
        writer.beginObject(.inline)
        writer.member("uri")
        writer.string(self.uri(of: name, number, side))
        writer.member("name")
        writer.string(VisibleText.line("\(name), exchange \(number), \(side)"))
        writer.member("size")
        writer.integer(size)
        writer.endObject()
    }

    static func uri(of name: String, _ number: Int, _ side: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8)
        let name = name.utf8.map { plain.contains($0) ? String(UnicodeScalar($0)) : "%" + Hex.encode([$0]).uppercased() }.joined()
        return "\(self.scheme)\(name)/\(number)/\(side)"
    }

    /// The template of all resources (RFC 6570), a JSON array.
    static let templates: StaticString =
        #"[{"uriTemplate": "wiretape://{+file}/{number}/{side}{?pointer}", "name": "a recorded body, or a JSON value in it", "description": "file: as the tool status lists it; number: of the exchange, from 1; side: request or response; pointer: a JSON Pointer"}]"#

    /// The contents of a resource, as a member of a result.
    ///
    /// Throws `Missing`, or why it cannot be read.
    func read(_ uri: String, _ writer: inout JSONWriter) throws {
        let (name, number, side, pointer) = try Self.parse(uri)
        guard self.files.names.contains(name) else {
            throw Missing(message: "there is no cassette of that name: the tool status lists them")
        }
        let cassette = try self.files.cassette(name)
        guard (1...max(1, cassette.count)).contains(number), number <= cassette.count else {
            throw Missing(message: "the cassette has \(Quantity.count(cassette.count, "exchange"))")
        }
        let interaction = try cassette.interaction(at: number - 1)
        let (body, headers) =
            side == "request"
            ? (interaction.request.body, interaction.request.headers)
            : (interaction.response?.body, interaction.response?.headers ?? HeaderFields())
        guard let body else { throw Missing(message: "the \(side) has no body") }
        let contents = try BodyContents(body, headers: headers, reader: BodyReader(cassettePath: cassette.path), readsBroken: true)
        guard contents.size <= Self.bodyLimit else {
            throw SettingSyntaxError("the body has more than 4 MiB: read it in pieces with the tool show")
        }
        var bytes = try contents.prefix(Self.bodyLimit)
        if let pointer { bytes = try JSONPointer.value(at: pointer, in: bytes) }
        writer.member("contents")
        writer.beginArray(.inline)
        writer.element()
        writer.beginObject(.inline)
        writer.member("uri")
        writer.string(uri)
        let isText = bytes.withUnsafeBytes { ReadableText.isReadable($0) }
        writer.member("mimeType")
        writer.string(isText ? "text/plain" : "application/octet-stream")
        writer.member(isText ? "text" : "blob")
        if isText {
            writer.string(self.untrusted.framed(bytes))
        } else {
            var text: [UInt8] = []
            bytes.withUnsafeBytes { Base64.encode($0, into: &text) }
            text.withUnsafeBytes { writer.string(utf8: $0) }
        }
        writer.endObject()
        writer.endArray()
    }

    private static func parse(_ uri: String) throws -> (name: String, number: Int, side: String, pointer: String?) {
        guard uri.hasPrefix(self.scheme) else { throw Missing(message: "the URIs of this server begin with \(self.scheme)") }
        let parts = uri.dropFirst(self.scheme.count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let segments = parts[0].split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard segments.count >= 3, let number = Int(segments[segments.count - 2]), let side = segments.last,
            side == "request" || side == "response", let name = self.decoded(segments.dropLast(2).joined(separator: "/"))
        else { throw Missing(message: "a URI is wiretape://FILE/NUMBER/request or wiretape://FILE/NUMBER/response") }
        guard parts.count == 2 else { return (name, number, side, nil) }
        guard parts[1].hasPrefix("pointer="), let pointer = self.decoded(String(parts[1].dropFirst("pointer=".count))) else {
            throw Missing(message: "the only query is pointer=, with a JSON Pointer")
        }
        return (name, number, side, pointer)
    }

    /// Nil if an escape is cut or the bytes are not UTF-8.
    private static func decoded(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        var (decoded, index): ([UInt8], Int) = ([], 0)
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%") {
                guard index + 2 < bytes.count, let byte = Hex.decode(bytes[index + 1...index + 2]) else { return nil }
                decoded += byte
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return UTF8Validator.isValid(decoded) ? String(decoding: decoded, as: UTF8.self) : nil
    }
}
