internal import CassetteModel
internal import TapeBytes

/// Bytes that are compared as they are. They are digested as they arrive; their beginning is kept for display.
struct ByteFacet {
    private var filter = MarkFilter()
    private var coded = CodedMarkFilter()
    private var digest: any ContentDigest
    private(set) var beginning: [UInt8] = []
    private(set) var size = 0
    private var keeps: Int
    /// The digest of bytes that were not read.
    private var known: [UInt8]?

    var hasMarks: Bool { self.filter.hasMarks || self.coded.hasMarks }

    init(digest: any ContentDigest, keeping: Int = BodyFacets.valueLimit) {
        self.digest = digest
        self.keeps = keeping
    }

    mutating func push(_ bytes: UnsafeRawBufferPointer) {
        var (filter, coded) = self.movedFilters()
        filter.push(bytes) { coded.push($0) { self.take($0) } }
        (self.filter, self.coded) = (filter, coded)
    }

    /// Both filters, moved out because they deliver bytes to the facet itself.
    private mutating func movedFilters() -> (MarkFilter, CodedMarkFilter) {
        defer { (self.filter, self.coded) = (MarkFilter(), CodedMarkFilter()) }
        return (self.filter, self.coded)
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer) {
        self.digest.update(bytes)
        self.size += bytes.count
        let room = self.keeps - self.beginning.count
        if room > 0 { self.beginning += bytes.prefix(room) }
        // The value will not be kept whole, so only the part that is displayed is needed.
        if self.size > self.keeps, self.beginning.count > BodyFacets.valueLimit {
            self.beginning = Array(self.beginning.prefix(BodyFacets.valueLimit))
            self.keeps = 0
        }
    }

    /// Sets the digest of all bytes at once. Nothing may have been pushed.
    mutating func take(sha256: [UInt8], size: Int) {
        self.known = sha256
        self.size = size
    }

    /// All bytes, if they were kept.
    var whole: [UInt8]? { self.known == nil && self.beginning.count == self.size ? self.beginning : nil }

    /// Ends the bytes and returns their digest.
    mutating func finish() -> [UInt8] {
        if let known = self.known { return known }
        var (filter, coded) = self.movedFilters()
        filter.finish { coded.push($0) { self.take($0) } }
        coded.finish { self.take($0) }
        (self.filter, self.coded) = (filter, coded)
        return self.digest.finalize()
    }
}

/// A whole text as a facet: its characters in any charset, without a byte order mark.
struct TextFacet {
    private let label: String
    private let rules: ValueRules

    /// - Parameters:
    ///   - field: the value of Content-Type.
    ///   - rules: rewrite the characters before they are compared.
    init(field: ArraySlice<UInt8>?, rules: ValueRules = ValueRules()) {
        self.rules = rules
        let parameter = field.flatMap { MIMEParameters($0)["charset"] }
        self.label = parameter.map { String(decoding: $0.value.prefix(64), as: UTF8.self).lowercased() } ?? ""
    }

    /// False, with nothing added, if the bytes are not text.
    func read(_ bytes: [UInt8], into collector: inout FacetCollector) -> Bool {
        guard let text = self.characters(bytes) else { return false }
        let marked = text.withUnsafeBytes { MatchMark.replaced(in: $0) }
        let compared = self.rules.compared(marked ?? text)
        (compared ?? marked ?? text).withUnsafeBytes { text in
            collector.add(
                FacetHash.value(FacetHash.root, .text, text), .whole, name: [], value: text, type: Array("text".utf8),
                hasMarks: marked != nil)
        }
        return true
    }

    /// The text as UTF-8; nil if the bytes are not valid in the charset.
    private func characters(_ bytes: [UInt8]) -> [UInt8]? {
        let text: [UInt8]
        if bytes.withUnsafeBytes({ UTF8Validator.isValid($0) }) {
            text = bytes
        } else {
            let charsets = bytes.withUnsafeBytes { Charset.candidates(label: self.label, beginning: $0) }
            guard
                let decoded = charsets.lazy.compactMap({ $0.decode(bytes) }).first ?? Charset.decodeOther(bytes, label: self.label)
            else { return nil }
            text = decoded
        }
        return text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
    }
}
