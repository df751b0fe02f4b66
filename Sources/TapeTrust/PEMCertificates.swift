/// The certificates of a PEM text (RFC 7468), each once.
///
/// Looks at the lines around them alone: whether a certificate can be read is for others to say.
package struct PEMCertificates {
    private static let begin = Array("-----BEGIN CERTIFICATE-----".utf8)
    private static let end = Array("-----END CERTIFICATE-----".utf8)

    /// Base64 without line ends, in order of first appearance.
    package private(set) var contents: [[UInt8]] = []
    private var seen: Set<[UInt8]> = []

    package init() {}

    package var isEmpty: Bool { self.contents.isEmpty }

    /// Adds those that are not there yet. What stands outside of certificates, as comments and keys do, is left out.
    package mutating func add(_ text: [UInt8]) {
        var content: [UInt8]?
        // CR LF, LF, or the CR of old systems.
        for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = Self.trimmed(line)
            if line.elementsEqual(Self.begin) {
                content = []
            } else if line.elementsEqual(Self.end) {
                if let content, !content.isEmpty, self.seen.insert(content).inserted { self.contents.append(content) }
                content = nil
            } else {
                content?.append(contentsOf: line)
            }
        }
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line
        while let last = line.last, last == 0x20 || last == 0x09 { line.removeLast() }
        while let first = line.first, first == 0x20 || first == 0x09 { line.removeFirst() }
        return line
    }

    /// Whether a text has all certificates of another, and that one has any.
    package static func contains(_ text: [UInt8], _ other: [UInt8]) -> Bool {
        var all = PEMCertificates()
        all.add(text)
        var wanted = PEMCertificates()
        wanted.add(other)
        return !wanted.isEmpty && wanted.seen.isSubset(of: all.seen)
    }

    /// As a PEM text with lines of 64 (RFC 7468, 2).
    package var text: [UInt8] { self.contents.reduce(into: []) { Self.append($1, to: &$0) } }

    /// Each as a PEM text of its own.
    package var texts: [[UInt8]] {
        self.contents.map { content in
            var text: [UInt8] = []
            Self.append(content, to: &text)
            return text
        }
    }

    private static func append(_ content: [UInt8], to text: inout [UInt8]) {
        text += self.begin
        text.append(0x0A)
        var rest = content[...]
        while !rest.isEmpty {
            text += rest.prefix(64)
            text.append(0x0A)
            rest = rest.dropFirst(64)
        }
        text += self.end
        text.append(0x0A)
    }
}
