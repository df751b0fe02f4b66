internal import CassetteModel
internal import TapeBytes

/// A text in one piece as a facet: its characters, whatever the charset, without a byte order mark.
struct TextFacet {
    private let label: String

    /// `field` is the value of Content-Type.
    init(field: ArraySlice<UInt8>?) {
        let parameter = field.flatMap { MIMEParameters($0)["charset"] }
        self.label = parameter.map { String(decoding: $0.value.prefix(64), as: UTF8.self).lowercased() } ?? ""
    }

    /// False, with nothing added, where the octets are no text.
    func read(_ octets: [UInt8], into collector: inout FacetCollector) -> Bool {
        guard let text = self.characters(octets) else { return false }
        let marked = text.withUnsafeBytes { MatchMark.replaced(in: $0) }
        (marked ?? text).withUnsafeBytes { text in
            collector.add(
                FacetHash.value(FacetHash.root, .text, text), .whole, name: [], value: text, type: Array("text".utf8),
                hasMarks: marked != nil)
        }
        return true
    }

    /// As UTF-8; nil where the octets are not of the charset.
    private func characters(_ octets: [UInt8]) -> [UInt8]? {
        let text: [UInt8]
        if octets.withUnsafeBytes({ UTF8Validator.isValid($0) }) {
            text = octets
        } else {
            let charsets = octets.withUnsafeBytes { Charset.candidates(label: self.label, beginning: $0) }
            guard let decoded = charsets.lazy.compactMap({ $0.decode(octets) }).first else { return nil }
            text = decoded
        }
        return text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
    }
}
