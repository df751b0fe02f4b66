/// The certificates of a PEM text (RFC 7468), each once.
///
/// Reads only the lines around them: does not check that they are certificates.
package struct PEMCertificates {
    private static let begin = Array("-----BEGIN CERTIFICATE-----".utf8)
    private static let end = Array("-----END CERTIFICATE-----".utf8)

    /// Base64 without line ends, in order of first appearance.
    package private(set) var contents: [[UInt8]] = []
    private var seen: Set<[UInt8]> = []

    package init() {}

    package var isEmpty: Bool { self.contents.isEmpty }

    /// Adds the certificates that are not there yet. Ignores what is outside of certificates, such as comments and keys.
    package mutating func add(_ text: [UInt8]) {
        var content: [UInt8]?
        // CRLF, LF, or CR alone.
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

    /// Whether `text` has all certificates of `other`, which has at least one.
    package static func contains(_ text: [UInt8], _ other: [UInt8]) -> Bool {
        var all = PEMCertificates()
        all.add(text)
        var wanted = PEMCertificates()
        wanted.add(other)
        return !wanted.isEmpty && wanted.seen.isSubset(of: all.seen)
    }

    /// As a PEM text with lines of 64 characters (RFC 7468, 2).
    package var text: [UInt8] { self.contents.reduce(into: []) { Self.append($1, to: &$0) } }

    /// Each certificate as a PEM text of its own.
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
