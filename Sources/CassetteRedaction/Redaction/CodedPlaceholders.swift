internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Makes base64 and hex canonical in which redaction wrote placeholders behind a further coding: in lines, in base64, UTF-16 or deflate within
/// base64, in hex with marks between its pairs.
///
/// Two texts that differ only in the numbers of such placeholders become equal. Does not know what stands for a placeholder.
package enum CodedPlaceholders {
    /// Begin the contents that had another coding, so that they differ from contents without it. No UTF-8 text has these bytes.
    private static let wideMark: [UInt8] = [0xFF, 0xFE]
    private static let deflateMark: [UInt8] = [0xFF, 0x78]

    /// Nil if there are none.
    ///
    /// - Parameters:
    ///   - limit: a longer text in base64 or hex is left as it is.
    ///   - plain: replaces the placeholders of a text that are there as they are; nil if there are none.
    ///   - coded: the same for those in base64 and hex.
    package static func replaced(
        in bytes: UnsafeRawBufferPointer, limit: Int = .max, plain: (UnsafeRawBufferPointer) -> [UInt8]?,
        coded: (UnsafeRawBufferPointer) -> [UInt8]?
    ) -> [UInt8]? {
        var edits: [Edit] = []
        var inflations = 0
        for run in CodedSecrets.runs(in: bytes, hasMore: false, joinsLines: limit == .max) where run.range.count <= limit {
            guard run.range.lowerBound >= edits.last?.range.upperBound ?? 0, let base64 = Base64Text(bytes[run.range]),
                let content = self.content(base64.content, isFolded: run.isFolded, &inflations, plain, coded)
            else { continue }
            var text: [UInt8] = []
            content.withUnsafeBytes { Base64.encode($0, into: &text) }
            edits.append(
                Edit(range: run.range.lowerBound..<self.endOfEscapedPadding(run.range, bytes), bytes: text.map(Base64Run.urlSafe)))
        }
        edits += CodedSecrets.pairs(in: bytes).compactMap { pairs in
            guard pairs.range.count <= limit, let content = pairs.content.withUnsafeBytes(plain) else { return nil }
            return Edit(range: pairs.range, bytes: Array(Hex.encode(content).utf8))
        }
        return edits.isEmpty ? nil : EditList(edits).applied(to: bytes)
    }

    /// In a URL, padding may be percent-encoded.
    private static func endOfEscapedPadding(_ run: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> Int {
        var end = run.upperBound
        for _ in 0..<2 where bytes[end...].starts(with: "%3D".utf8) || bytes[end...].starts(with: "%3d".utf8) { end += 3 }
        return end
    }

    /// Nil for a content without placeholders behind a further coding.
    private static func content(
        _ content: [UInt8], isFolded: Bool, _ inflations: inout Int, _ plain: (UnsafeRawBufferPointer) -> [UInt8]?,
        _ coded: (UnsafeRawBufferPointer) -> [UInt8]?
    ) -> [UInt8]? {
        func both(_ text: [UInt8]) -> [UInt8]? {
            let marked = text.withUnsafeBytes(coded)
            return (marked ?? text).withUnsafeBytes(plain) ?? marked
        }
        if content.withUnsafeBytes(ReadableText.isReadable) {
            if isFolded { return both(content) }
            return content.withUnsafeBytes(coded).map { marked in marked.withUnsafeBytes(plain) ?? marked }
        }
        if inflations < CodedSecrets.inflationLimit, SniffedCoding.mayBeRawDeflate(content) {
            inflations += 1
            if let (text, _) = CodedSecrets.inflated(content, budget: nil) { return both(text).map { self.deflateMark + $0 } }
        }
        for charset in [nil, "utf-16le"] {
            if let wide = content.withUnsafeBytes({ WideText($0, charset: charset) }), let text = both(wide.text) {
                return self.wideMark + text
            }
        }
        return content.withUnsafeBytes(coded)
    }
}
