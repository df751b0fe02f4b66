internal import CassetteModel
internal import TapeBytes

/// The frames of `application/vnd.amazon.eventstream`, whose checksums must be correct after redaction.
///
/// A frame consists of its length, the length of its headers, a CRC-32 of both, the headers, the payload, and a CRC-32 of everything before
/// it. Numbers are big-endian (AWS SDKs, "Event stream encoding"). Redaction keeps the length of bytes that are not text, so the lengths
/// remain correct.
enum AmazonEventStream {
    private static let type = "application/vnd.amazon.eventstream"
    private static let preludeSize = 12
    private static let crcSize = 4

    private static func isDeclared(_ headers: HeaderFields) -> Bool {
        headers.contains("content-type") && headers.first("content-type")?.lowercased().hasPrefix(self.type) == true
    }

    /// Whether a content begins with a frame, whatever its declared type.
    private static func isIn(_ content: UnsafeRawBufferPointer) -> Bool {
        guard content.count >= self.preludeSize, case let length = self.number(content, at: 0), length >= self.preludeSize + self.crcSize,
            self.number(content, at: 4) <= length - self.preludeSize - self.crcSize
        else { return false }
        return BodyChecksum.crc32.value(of: Array(content[..<8])).elementsEqual(content[8..<self.preludeSize])
    }

    /// The note for a stream whose frames cannot be inspected.
    static func note(_ headers: HeaderFields) -> String? {
        self.isDeclared(headers) ? "the checksums of its event stream do not fit the redacted body" : nil
    }

    /// Adds the edits that correct the checksums of changed frames. A checksum that was wrong before is left alone, and a frame that was
    /// cut has none at its end.
    ///
    /// - Parameters:
    ///   - edits: the edits made by redaction.
    ///   - content: the body without its content codings.
    static func mended(
        _ edits: EditList, of content: UnsafeRawBufferPointer, _ headers: HeaderFields, notes: inout [String]
    ) -> EditList {
        guard !edits.isEmpty, self.isIn(content) else { return edits }
        let redacted = edits.applied(to: content)
        guard redacted.count == content.count else {
            if let note = self.note(headers) { notes.append(note) }
            return edits
        }
        return redacted.withUnsafeBytes { EditList(edits.edits + self.checksums(of: content, as: $0)) }
    }

    private static func checksums(of old: UnsafeRawBufferPointer, as new: UnsafeRawBufferPointer) -> [Edit] {
        var edits: [Edit] = []
        var start = 0
        while old.count - start >= self.preludeSize {
            let length = self.number(old, at: start)
            guard length >= self.preludeSize + self.crcSize else { break }
            // Redaction never takes a binary number for a secret, so the checksum of the lengths stays correct.
            guard old.count - start >= length else { break }
            let (covered, place) = (start..<start + length - self.crcSize, start + length - self.crcSize..<start + length)
            if !new[covered].elementsEqual(old[covered]), new[place].elementsEqual(old[place]),
                BodyChecksum.crc32.value(of: Array(old[covered])).elementsEqual(old[place])
            {
                edits.append(Edit(range: place, bytes: BodyChecksum.crc32.value(of: Array(new[covered]))))
            }
            start += length
        }
        return edits
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
