import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes

/// Exports into memory, and reads the archive again.
enum HARExport {
    static func export(_ interactions: [Interaction], bodies: (any HARBodySource)? = nil) throws -> JSONValue {
        var text: [UInt8] = []
        var writer = HARWriter(bodies: bodies) { text.append(contentsOf: $0) }
        try writer.begin(creator: "wiretape", version: "0.1.0")
        for interaction in interactions { try writer.append(interaction) }
        try writer.end()
        return try JSONDocument(text).root
    }

    static func entry(_ interaction: Interaction, bodies: (any HARBodySource)? = nil) throws -> JSONValue {
        let log = try #require(Self.export([interaction], bodies: bodies)["log"])
        let entries = try #require(log["entries"])
        return try #require(entries.elements.first { _ in true })
    }

    static func text(_ value: JSONValue?) -> String? { value.map { String(decoding: $0.raw, as: UTF8.self) } }

    static func response(_ body: Body, _ headers: [String] = []) -> Interaction {
        Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://a/"),
            response: RecordedResponse(status: 200, reason: Array("OK".utf8), headers: HeaderFields(headers), body: body))
    }
}
