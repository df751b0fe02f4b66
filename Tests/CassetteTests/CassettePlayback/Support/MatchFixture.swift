import TapeTestSupport
@testable import CassetteFormat
@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteStore
@testable import TapeBytes

/// Facets of bodies given as text, live and from a cassette.
enum MatchFixture {
    static let json = ["Content-Type: application/json"]
    static let form = ["Content-Type: application/x-www-form-urlencoded"]
    static let text = ["Content-Type: text/plain"]
    static let binary = ["Content-Type: application/octet-stream"]
    static func parts(_ boundary: String) -> [String] { ["Content-Type: multipart/form-data; boundary=\(boundary)"] }

    static func rules(match: [String]? = nil, ignore: [String] = [], patterns: [String] = []) throws -> MatchRules {
        try MatchRules(match: match, ignore: ignore, patterns: patterns)
    }

    static func live(
        _ body: [UInt8], _ lines: [String], _ rules: MatchRules = .standard, url: String = "http://a.test/", cuts: [Int] = []
    ) -> BodyFacets {
        var builder = BodyFacetBuilder(rules: rules, headers: HeaderFields(lines), url: url)
        body.withUnsafeBytes { bytes in
            var start = 0
            for cut in cuts + [body.count] {
                builder.push(UnsafeRawBufferPointer(rebasing: bytes[start..<cut]))
                start = cut
            }
        }
        return builder.finish()
    }

    static func live(_ body: String, _ lines: [String], _ rules: MatchRules = .standard, url: String = "http://a.test/") -> BodyFacets {
        self.live(Array(body.utf8), lines, rules, url: url)
    }

    /// The differences between a live body and the recorded one.
    static func differences(_ live: String, _ recorded: String, _ lines: [String], _ rules: MatchRules = .standard) -> [String] {
        self.live(live, lines, rules).differences(fromRecorded: self.live(recorded, lines, rules)).map(\.description)
    }

    /// A form of parts, each with the lines of its header section and its data.
    static func multipart(_ boundary: String, _ parts: [([String], String)]) -> String {
        parts.map { "--\(boundary)\r\n" + $0.map { $0 + "\r\n" }.joined() + "\r\n\($1)\r\n" }.joined() + "--\(boundary)--\r\n"
    }

    /// A form of fields.
    static func fields(_ boundary: String, _ fields: [(String, String)]) -> String {
        self.multipart(boundary, fields.map { (["Content-Disposition: form-data; name=\"\($0)\""], $1) })
    }

    static func headKey(_ url: String, method: String = "GET") -> String { self.headKey(.standard, url, method: method) }

    static func headKey(
        _ rules: MatchRules, _ url: String, method: String = "GET", _ lines: [String] = []
    ) -> String {
        rules.withHeadKey(method: method, url: url, headers: HeaderFields(lines)) { String(decoding: $0, as: UTF8.self) }
    }
}

/// A folder with sidecars as a recorder leaves it; takes a request body into a cassette and out of it.
struct RecordedFixture {
    let folder: TemporaryFolder
    private let store: BodyStore

    init() throws {
        self.folder = try TemporaryFolder()
        self.store = try BodyStore(cassettePath: self.folder.file("tape.json"))
    }

    private struct Sink: SidecarSink {
        let store: BodyStore

        func store(
            fileExtension: String, _ write: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
        ) throws -> Sidecar {
            let spool = try self.store.makeSpool()
            var digest = PortableSHA256()
            try write {
                try spool.write($0)
                digest.update($0)
            }
            return try spool.finish(sha256: Hex.encode(digest.finalize()), ext: fileExtension)
        }
    }

    var reader: BodyReader { BodyReader(cassettePath: self.folder.file("tape.json")) }

    /// The body, decoded, written as an interaction, and read again.
    func body(_ wire: [UInt8], _ lines: [String]) throws -> Body? {
        var sink = Sink(store: self.store)
        var decoder = WireBodyDecoder { PortableSHA256() }
        let body = try decoder.decode(wire, headers: HeaderFields(lines), origin: "a.test:80", sink: &sink)
        let request = RecordedRequest(method: "POST", url: "http://a.test/", headers: HeaderFields(lines), body: body)
        var writer = JSONWriter()
        InteractionEncoder.encode(Interaction(id: 1, started: Timestamp(microseconds: 0), request: request), into: &writer)
        return try InteractionDecoder.decode(writer.bytes, at: .textAlone).request.body
    }

    func facets(
        _ wire: [UInt8], _ lines: [String], _ rules: MatchRules = .standard, _ detail: BodyFacets.RecordedDetail = .digests
    ) throws -> BodyFacets {
        try self.facets(of: self.body(wire, lines), lines, rules, detail)
    }

    func facets(
        of body: Body?, _ lines: [String], _ rules: MatchRules = .standard, _ detail: BodyFacets.RecordedDetail = .digests
    ) throws -> BodyFacets {
        try BodyFacets(
            recorded: body, headers: HeaderFields(lines), url: "http://a.test/", rules: rules, reader: self.reader, detail: detail)
    }
}
