internal import CassetteModel
internal import TapeBytes

/// The frames of `application/vnd.amazon.eventstream`, whose checksums have to fit after redaction.
///
/// A frame is its length, the length of its headers, a CRC-32 of both, the headers, the payload, and a CRC-32 of all before it; numbers are
/// big-endian (AWS SDKs, "Event stream encoding"). Redaction keeps the length of bytes that are not text, so that lengths still fit.
enum AmazonEventStream {
    private static let type = "application/vnd.amazon.eventstream"
    private static let preludeSize = 12
    private static let crcSize = 4

    static func isDeclared(_ headers: HeaderFields) -> Bool {
        headers.contains("content-type") && headers.first("content-type")?.lowercased().hasPrefix(self.type) == true
    }

    /// Of a stream whose frames cannot be looked into.
    static let note = "the checksums of its event stream do not fit the redacted body"

    /// Computes the checksums of frames anew that were right before. A frame that was cut has no checksum of its end.
    static func mend(_ bytes: inout [UInt8], as old: [UInt8], _ headers: HeaderFields, notes: inout [String]) {
        guard bytes.count == old.count, !headers.contains("content-encoding") else { return notes.append(self.note) }
        var start = 0
        while old.count - start >= self.preludeSize {
            let length = self.number(old, at: start)
            guard length >= self.preludeSize + self.crcSize else { return }
            self.mend(&bytes, as: old, from: start, count: 8)
            guard old.count - start >= length else { return }
            self.mend(&bytes, as: old, from: start, count: length - self.crcSize)
            start += length
        }
    }

    /// The checksum follows what it is of.
    private static func mend(_ bytes: inout [UInt8], as old: [UInt8], from start: Int, count: Int) {
        let (range, place) = (start..<start + count, start + count..<start + count + self.crcSize)
        guard bytes[range] != old[range], BodyChecksum.crc32.value(of: Array(old[range])).elementsEqual(old[place]) else { return }
        bytes.replaceSubrange(place, with: BodyChecksum.crc32.value(of: Array(bytes[range])))
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
