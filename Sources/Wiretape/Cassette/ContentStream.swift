internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import Foundation
internal import TapeBytes

/// The content of a recorded body without codings, read piece by piece.
///
/// Needs memory for one piece and the decoders' windows, however large the body is.
// SAFETY: used by one thread at a time: its owner starts a read only after the previous one has returned.
final class ContentStream: @unchecked Sendable {
    private enum Source {
        case memory([UInt8])
        /// Its digest is checked with its last piece.
        case file(BodyStream)
        case parts(ByteSource)
    }

    private let source: Source
    private let size: Int
    private var position = 0
    /// For codings that the recorder has not decoded; nil if there are none.
    private let decoder: DecoderChain?
    private var decoded = Data()
    /// The error in the coding. Thrown after the bytes that could be decoded.
    private var flaw: TransportFailure?
    private(set) var isEnded: Bool

    /// - Parameter headers: those of the response, which name its content codings.
    init(_ body: Body, headers: HeaderFields, bodies: BodyReader) throws(CassetteError) {
        switch body.content {
        case .file(let sidecar): self.source = .file(try bodies.open(sidecar, digest: PortableSHA256()))
        case .raw(let slice): self.source = .file(try bodies.open(slice))
        case .multipart, .grpc: self.source = .parts(try bodies.contentSource(of: body, digest: { PortableSHA256() }))
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .binary:
            self.source = .memory(body.content.inlineBytes ?? [])
        }
        self.size =
            switch self.source {
            case .memory(let bytes): bytes.count
            case .file(let stream): stream.remaining
            case .parts(let source): source.size
            }
        self.isEnded = self.size == 0
        guard body.codings.isEmpty, self.size > 0 else {
            self.decoder = nil
            return
        }
        switch ContentEncoding(headers) {
        case .none:
            self.decoder = nil
        case .coded(let names):
            self.decoder = DecoderChain(names, limits: .file(codedSize: self.size))
        case .other(let words):
            self.decoder = nil
            self.flaw = Self.flaw("the content coding \"\(words)\" of the recorded response cannot be decoded")
        }
    }

    private static func flaw(_ problem: String) -> TransportFailure {
        TransportFailure(.network(.malformed), "\(problem): request another coding with Accept-Encoding, and record it again.")
    }

    /// The next bytes, at most `limit`; empty only at the end. Throws `CassetteError` if they cannot be read, and `TransportFailure` if
    /// they cannot be decoded.
    func next(_ limit: Int) throws -> Data {
        if let flaw = self.flaw, self.decoded.isEmpty {
            self.isEnded = true
            throw flaw
        }
        guard let decoder = self.decoder else {
            let piece = try self.read(limit)
            self.isEnded = self.position == self.size
            return piece
        }
        while self.decoded.isEmpty, self.position < self.size, self.flaw == nil {
            let piece = try self.read(64 << 10)
            let takesMore = try piece.withUnsafeBytes { try decoder.push($0) { self.decoded.append(contentsOf: $0) } }
            if self.position == self.size || !takesMore, !decoder.finish() {
                let problem = decoder.problem.map { "\($0.name): \($0.problem)" } ?? "truncated"
                self.flaw = Self.flaw("the recorded response cannot be decoded (\(problem))")
            }
        }
        let piece = Data(self.decoded.prefix(limit))
        self.decoded = Data(self.decoded.dropFirst(limit))
        if self.decoded.isEmpty, self.flaw == nil { self.isEnded = self.position == self.size }
        guard !piece.isEmpty || self.isEnded else { return try self.next(limit) }
        return piece
    }

    /// The next bytes as they are stored.
    private func read(_ limit: Int) throws -> Data {
        let count = min(limit, self.size - self.position)
        var piece: Data
        switch self.source {
        case .memory(let bytes):
            piece = Data(bytes[self.position..<self.position + count])
        case .file(let stream):
            piece = Data(count: count)
            var filled = 0
            while filled < count {
                filled += try piece.withUnsafeMutableBytes { try stream.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...])) }
            }
        case .parts(let source):
            piece = Data(count: count)
            try piece.withUnsafeMutableBytes { try source.read(at: self.position, into: $0) }
        }
        self.position += count
        return piece
    }
}
