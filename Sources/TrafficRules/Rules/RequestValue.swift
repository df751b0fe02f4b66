internal import CassetteModel
internal import CassettePlayback
internal import TapeBytes

/// One value of a request, which templates and quotas name: `json:/id`, `header:x-id`, `path`.
struct RequestValue: Sendable, Hashable, CustomStringConvertible {
    private enum Place: Sendable, Hashable {
        case url
        case match(MatchPlace)
    }

    let description: String
    private let place: Place

    static let grammar = "json:/POINTER, header:NAME, query:NAME, form:NAME, method, url, scheme, host, port, path, query or body"

    /// A value as it is, and as JSON.
    struct Found {
        var text: [UInt8]
        /// Nil if the value is text.
        var json: [UInt8]?
    }

    /// Nil if the text names no value of a request.
    init?(_ text: String) {
        self.description = text
        if text == "url" {
            self.place = .url
            return
        }
        guard let place = try? MatchPlace(text) else { return nil }
        switch place {
        case .method, .scheme, .host, .port, .path, .query, .queryItem, .header, .body, .formField: break
        // With `*`, a pointer has more than one value.
        case .json(let pointer): if pointer.segments.contains(.any) { return nil }
        case .xml, .grpc, .part, .partFilename, .within: return nil
        }
        self.place = .match(place)
    }

    /// Whether the value is in the body.
    var isInBody: Bool {
        switch self.place {
        case .match(.json), .match(.body), .match(.formField): true
        case .url, .match: false
        }
    }

    /// The first value at the place; nil if there is none.
    func value(of request: inout RequestView) -> Found? {
        let facts = request.facts
        let place: MatchPlace
        switch self.place {
        case .url: return Found(text: Array(facts.url.utf8))
        case .match(let known): place = known
        }
        let url = URLParts(facts.url)
        switch place {
        case .method: return Found(text: Array(facts.method.utf8))
        case .scheme: return url.map { Found(text: Array($0.scheme.utf8)) }
        case .host: return Found(text: Array(request.host.utf8))
        case .port: return url?.port.map { Found(text: Array("\($0)".utf8)) }
        case .path: return url.map { Found(text: Array($0.path.utf8)) }
        case .query: return url?.query.map { Found(text: Array($0.utf8)) }
        case .queryItem(let name):
            return (url?.query).flatMap { NamedItems(Array($0.utf8)).first(name) }.map { Found(text: $0) }
        case .header(let name):
            let index = (0..<facts.headers.count).first { facts.headers.name(at: $0).lowercased() == name }
            return index.map { Found(text: Array(facts.headers.valueBytes(at: $0))) }
        case .body: return request.content.map { Found(text: $0) }
        case .formField(let name): return request.content.flatMap { NamedItems($0).first(name) }.map { Found(text: $0) }
        case .json(let pointer):
            guard let value = (request.document?.root).flatMap({ JSONPlaces.first(pointer.segments, in: $0) }) else { return nil }
            return Found(text: value.utf8 ?? Array(value.raw), json: Array(value.raw))
        case .xml, .grpc, .part, .partFilename, .within: return nil
        }
    }
}
