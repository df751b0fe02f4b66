internal import TapeBytes

/// A JSON Pointer (RFC 6901) of a rule, in which a segment `*` stands for any member or element.
public struct PlacePointer: Sendable, Hashable, CustomStringConvertible {
    public enum Segment: Sendable, Hashable {
        /// A member's name, or an element's index in decimal digits.
        case name([UInt8])
        case any
    }

    /// Deeper values are not JSON to us (`JSONDocument.depthLimit`).
    static let segmentLimit = JSONTokenizer.depthLimit

    /// Empty for the whole value.
    public let segments: [Segment]

    public init(_ text: String) throws(MatchRuleError) {
        guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else {
            throw Self.error(text, "does not begin with a slash; write \"json:/\(PlainText.escape(text.utf8, limit: 60))\"")
        }
        var segments: [Segment] = []
        for part in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
            guard segments.count < Self.segmentLimit else {
                throw Self.error(text, "has more than \(Self.segmentLimit) segments, where no JSON is that deep; leave some out")
            }
            guard !part.elementsEqual([UInt8(ascii: "*")]) else {
                segments.append(.any)
                continue
            }
            guard let name = Self.unescaped(Array(part)) else {
                throw Self.error(
                    text, "has a \"~\" without 0 or 1 behind it (RFC 6901, 3); write \"~0\" for a tilde and \"~1\" for a slash")
            }
            segments.append(.name(name))
        }
        self.segments = segments
    }

    private static func error(_ text: String, _ problem: String) -> MatchRuleError {
        MatchRuleError(.unknownPlace, "the JSON pointer \"\(PlainText.escape(text.utf8, limit: 80))\" \(problem)")
    }

    private static func unescaped(_ part: [UInt8]) -> [UInt8]? {
        guard part.contains(UInt8(ascii: "~")) else { return part }
        var name: [UInt8] = []
        var rest = part[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "~") else {
                name.append(octet)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "0"): name.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): name.append(UInt8(ascii: "/"))
            case _: return nil
            }
        }
        return name
    }

    public var description: String {
        var text: [UInt8] = []
        for segment in self.segments {
            switch segment {
            case .any: text += [UInt8(ascii: "/"), UInt8(ascii: "*")]
            case .name(let name): Self.append(name, to: &text)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends a slash and a name with its escapes (RFC 6901, 3).
    static func append(_ name: some Sequence<UInt8>, to pointer: inout [UInt8]) {
        pointer.append(UInt8(ascii: "/"))
        for octet in name {
            switch octet {
            case UInt8(ascii: "~"): pointer += [UInt8(ascii: "~"), UInt8(ascii: "0")]
            case UInt8(ascii: "/"): pointer += [UInt8(ascii: "~"), UInt8(ascii: "1")]
            default: pointer.append(octet)
            }
        }
    }
}
