internal import TapeBytes

/// Extracts the payload from a body in `aws-chunked` coding (Amazon S3, "Signature Calculations for the Authorization Header: Transferring
/// Payload in Multiple Chunks").
///
/// Chunk sizes, chunk signatures and the trailer are not content. The trailer holds checksums of the payload and a signature.
package struct AWSChunks: Sendable {
    private enum State: Equatable { case size, data(left: Int), dataEnd, trailer, end, failed }

    /// A line holds a size and a signature of 64 digits, or a checksum.
    private static let lineLimit = 8192

    private var state = State.size
    private var line: [UInt8] = []
    /// Whether the chunk of size zero has come.
    private var isLast = false

    /// Nil if the body is not in this coding.
    package init?(_ headers: HeaderFields) {
        let isStreaming =
            headers.firstIndex(of: "x-amz-content-sha256").map { headers.valueBytes(at: $0).starts(with: "STREAMING-".utf8) } ?? false
        guard isStreaming || headers.contains("content-encoding") && Self.codings(headers).contains("aws-chunked") else { return nil }
    }

    /// The fields without this coding.
    package static func removed(from headers: HeaderFields) -> HeaderFields {
        let rest = self.codings(headers).filter { $0 != "aws-chunked" }
        let others = headers.removing("content-encoding")
        guard !rest.isEmpty else { return others }
        return HeaderFields(
            (0..<others.count).map { "\(others.name(at: $0)): \(others.value(at: $0))" } + [
                "Content-Encoding: \(rest.joined(separator: ", "))"
            ])
    }

    private static func codings(_ headers: HeaderFields) -> [String] {
        (0..<headers.count).filter { headers.isNamed("content-encoding", at: $0) }.flatMap { index in
            String(decoding: headers.valueBytes(at: index), as: UTF8.self).split(separator: ",").map {
                String($0.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }).lowercased()
            }
        }
    }

    /// Whether the bytes so far are in this coding.
    package var isValid: Bool { self.state != .failed }

    /// Whether the trailer has come and nothing follows it.
    package var isEnded: Bool { self.state == .end }

    package mutating func push(_ bytes: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) -> Void) {
        var offset = 0
        while offset < bytes.count {
            switch self.state {
            case .failed: return
            case .end: return self.state = .failed
            case .data(let left):
                let count = min(left, bytes.count - offset)
                deliver(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
                offset += count
                self.state = count < left ? .data(left: left - count) : .dataEnd
            case .size, .dataEnd, .trailer:
                let end = ByteScan.index(of: 10, in: bytes, from: offset)
                self.line += bytes[offset..<end]
                offset = min(end + 1, bytes.count)
                guard self.line.count <= Self.lineLimit else { return self.state = .failed }
                if end < bytes.count { self.endLine() }
            }
        }
    }

    private mutating func endLine() {
        var line = self.line
        self.line = []
        guard line.popLast() == 13 else { return self.state = .failed }
        switch self.state {
        case .size:
            let digits = line.prefix { $0 != UInt8(ascii: ";") }
            var size = 0
            for digit in digits {
                // A size of 16 digits exceeds any real body.
                guard let value = Hex.value(digit), size < 1 << 40 else { return self.state = .failed }
                size = size << 4 | Int(value)
            }
            guard !digits.isEmpty, !self.isLast else { return self.state = .failed }
            self.isLast = size == 0
            self.state = size == 0 ? .trailer : .data(left: size)
        case .dataEnd: self.state = line.isEmpty ? .size : .failed
        case .trailer: self.state = line.isEmpty ? .end : line.contains(UInt8(ascii: ":")) ? .trailer : .failed
        case .data, .end, .failed: self.state = .failed
        }
    }
}
