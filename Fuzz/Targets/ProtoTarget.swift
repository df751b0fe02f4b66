internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// The reader of Protocol Buffers: what it takes is written again as the same bytes, with the names of a schema and without.
///
/// An input is the size of a FileDescriptorSet in two bytes, one for the cuts, the set, and the bytes of a message.
package enum ProtoTarget: FuzzTarget {
    package static func run(_ input: UnsafeRawBufferPointer) throws {
        guard input.count > 3 else { return }
        let size = min(Int(input[0]) << 8 | Int(input[1]), input.count - 3)
        let message = Array(input[(3 + size)...])
        try self.parse(message, as: nil)
        var rules = MatchRules.standard
        if let schema = try? ProtoSchema(files: [Array(input[3..<3 + size])]) {
            rules.schema = schema
            if let type = schema.types(ofPath: "/a.B/C")?.request { try self.parse(message, as: type) }
        }
        try self.compare(message, rules, seed: input[2])
    }

    private static func parse(_ bytes: [UInt8], as type: ProtoType?) throws {
        var parser = ProtoParser(fields: 10_000)
        guard let message = parser.parse(bytes, as: type) else { return }
        try self.expect(message.bytes == bytes && message.size == bytes.count, "written again, a message differs")
    }

    private static func compare(_ message: [UInt8], _ rules: MatchRules, seed: UInt8) throws {
        let prefix: [UInt8] = [0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: message.count >> $0) }
        let body = prefix + message
        func facets(_ pieces: [[UInt8]]) -> BodyFacets {
            var builder = BodyFacetBuilder(
                rules: rules, headers: HeaderFields(["content-type: application/grpc"]), url: "http://a.test/a.B/C")
            for piece in pieces { piece.withUnsafeBytes { builder.push($0) } }
            return builder.finish()
        }
        let pieces = body.withUnsafeBytes { Cuts(seed: seed).pieces(of: $0) }
        try self.expect(facets([body]) == facets(pieces), "what a body is compared by depends on the cuts")
        try self.expect(facets([body]).differences(fromRecorded: facets(pieces)).isEmpty, "a body differs from itself")
    }
}
