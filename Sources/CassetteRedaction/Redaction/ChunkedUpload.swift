internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// An upload in `aws-chunked` coding, whose payload is redacted without the lines between its chunks.
struct ChunkedUpload {
    private let wire: [UInt8]
    /// The places of the chunks' data.
    private let chunks: [Range<Int>]
    let payload: [UInt8]
    /// The fields of the payload.
    let headers: HeaderFields

    /// Nil if the body is not in this coding, or is broken. A body that was cut ends anywhere.
    init?(_ wire: [UInt8], _ headers: HeaderFields, isComplete: Bool) {
        guard var reader = AWSChunks(headers) else { return nil }
        var chunks: [Range<Int>] = []
        var payload: [UInt8] = []
        wire.withUnsafeBytes { bytes in
            reader.push(bytes) { piece in
                guard let start = bytes.baseAddress, let place = piece.baseAddress, !piece.isEmpty else { return }
                let offset = place - start
                chunks.append(offset..<offset + piece.count)
                payload.append(contentsOf: piece)
            }
        }
        guard reader.isValid, !chunks.isEmpty, reader.isEnded || !isComplete else { return nil }
        self.wire = wire
        self.chunks = chunks
        self.payload = payload
        self.headers = AWSChunks.removed(from: headers)
    }

    /// The body with another payload. Each chunk keeps its signature, and what the trailer says of the payload is computed again.
    ///
    /// - Parameter edits: the edits of the payload; nil if it was encoded again.
    func bytes(of payload: [UInt8], _ edits: EditList?, notes: inout [String]) -> [UInt8] {
        var ends: [Int] = []
        for chunk in self.chunks { ends.append((ends.last ?? 0) + chunk.count) }
        let old = self.payload.count
        var moved = edits?.moved(ends) ?? ends.map { Int(Double($0) * Double(payload.count) / Double(old)) }
        moved[moved.count - 1] = payload.count
        var bytes: [UInt8] = []
        var (from, start) = (0, 0)
        for (chunk, end) in zip(self.chunks, moved) {
            let line = self.wire[from..<chunk.lowerBound]
            from = chunk.upperBound
            // A chunk of size zero would be the last one.
            guard end > start else { continue }
            bytes += Self.line(line, growth: end - start - chunk.count)
            bytes += payload[start..<end]
            start = end
        }
        return bytes + self.trailer(self.wire[from...], payload, notes: &notes)
    }

    /// The line before a chunk, with the end of the line before it, and another size. In a body that was cut, the size is that of the whole
    /// chunk.
    private static func line(_ line: ArraySlice<UInt8>, growth: Int) -> [UInt8] {
        let start = line.firstIndex { $0 != 13 && $0 != 10 } ?? line.endIndex
        let digits = line[start...].prefix { Hex.value($0) != nil }
        let size = digits.reduce(0) { $0 << 4 | Int(Hex.value($1) ?? 0) }
        return Array(line[..<start]) + Array(String(max(0, size + growth), radix: 16).utf8) + Array(line[digits.endIndex...])
    }

    /// The last chunk's line and the trailer.
    private func trailer(_ rest: ArraySlice<UInt8>, _ payload: [UInt8], notes: inout [String]) -> [UInt8] {
        let mender = FieldsOfBody { PortableSHA256() }
        var bytes: [UInt8] = []
        for line in rest.split(separator: 10, omittingEmptySubsequences: false) {
            if !bytes.isEmpty || line.startIndex > rest.startIndex { bytes.append(10) }
            let isField = line.contains(UInt8(ascii: ":")) && line.last == 13
            guard isField, let text = String(validating: line.dropLast(), as: UTF8.self) else {
                bytes += line
                continue
            }
            var fields = HeaderFields([text])
            mender.mend(
                &fields, growth: payload.count - self.payload.count, old: { mender.checksum($0, of: self.payload) },
                new: { mender.checksum($0, of: payload) }, notes: &notes)
            bytes += (fields.lines == [text] ? Array(text.utf8) : Self.spelled(fields, like: text)) + [13]
        }
        return bytes
    }

    /// S3's clients write no blank after the colon.
    private static func spelled(_ fields: HeaderFields, like text: String) -> [UInt8] {
        let blank = text.contains(": ") ? " " : ""
        return Array("\(fields.name(at: 0)):\(blank)\(fields.value(at: 0))".utf8)
    }
}
