package import CassetteFormat
package import CassetteModel
package import CassetteStore
package import TapeBytes

/// The bytes of a recorded body without its codings, from the cassette or from the file next to it. They can be read any number of times.
///
/// Also decodes bodies that the recorder stored raw, if their codings are known.
package struct BodyContents {
    /// The codings that are removed while reading, in the order applied; nil if the recorder removed them, or there are none.
    package let inflated: [ContentEncoding.Name]?
    /// Where and why the coded bytes break, if only the part before that can be read.
    package let breaking: Breaking?
    /// The size in bytes.
    package let size: Int

    package struct Breaking {
        package var name: ContentEncoding.Name
        package var problem: InflateProblem

        /// Whether a limit stopped the decoding, rather than a defect.
        package var isBomb: Bool {
            switch self.problem.kind {
            case .tooLong, .tooDense, .outOfMemory: true
            case .corrupt, .truncated, .wrongChecksum, .wrongLength, .unsupported: false
            }
        }
    }

    /// Decoded content up to this size is kept in memory, so that it is not decoded again for each part.
    package static let keptSize = 16 << 20

    private let source: ByteSource
    /// The codings that `source` still has.
    private let codings: [ContentEncoding.Name]
    /// The offset of these bytes in `source` without its codings; not 0 for a part of a body.
    private let start: Int

    private struct Enough: Error {}

    /// - Parameters:
    ///   - readsBroken: whether the readable beginning of damaged coded bytes is used as the body; otherwise they stay coded.
    ///   - keptSize: decoded content up to this size is kept in memory.
    package init(_ body: Body, headers: HeaderFields, reader: BodyReader, readsBroken: Bool = false, keptSize: Int = Self.keptSize) throws {
        let source = try BodyRestorer.decoded(
            of: body, file: { try reader.source($0, digest: PortableSHA256()) }, raw: { ByteSource(try reader.read($0)) })
        self.start = 0
        var content = source
        var codings: [ContentEncoding.Name] = []
        var inflated: [ContentEncoding.Name]?
        var breaking: Breaking?
        var size = source.size
        let isCoded = body.isUndecoded(headers) || readsBroken && body.codings.isEmpty && body.note != nil
        if isCoded, case .coded(let names) = ContentEncoding(headers) {
            var kept: [UInt8] = []
            let found = try Self.inflate(source, names) { piece in
                if kept.count <= keptSize { kept.append(contentsOf: piece) }
            }
            // A truncated body can be read as far as it was received.
            let isWhole = found.breaking == nil || found.breaking?.problem.kind == .truncated && !body.isComplete
            if isWhole || readsBroken && found.size > 0 && found.breaking?.isBomb == false {
                inflated = names
                size = found.size
                breaking = isWhole ? nil : found.breaking
                if kept.count == size, size <= keptSize { content = ByteSource(kept) } else { codings = names }
            }
        }
        self.source = content
        self.codings = codings
        self.inflated = inflated
        self.breaking = breaking
        self.size = size
    }

    package init(_ source: ByteSource) {
        self.init(source, [], start: 0, size: source.size)
    }

    /// Bytes in memory.
    package init(_ bytes: [UInt8]) {
        self.init(ByteSource(bytes), [], start: 0, size: bytes.count)
    }

    private init(
        _ source: ByteSource, _ codings: [ContentEncoding.Name], start: Int, size: Int, inflated: [ContentEncoding.Name]? = nil
    ) {
        self.source = source
        self.codings = codings
        self.start = start
        self.size = size
        self.inflated = inflated
        self.breaking = nil
    }

    /// The bytes of a part, clamped to the available bytes.
    package func part(_ range: Range<Int>) -> BodyContents {
        let range = range.clamped(to: 0..<self.size)
        return BodyContents(self.source, self.codings, start: self.start + range.lowerBound, size: range.count)
    }

    /// The same bytes for random access: decoded once, into a temporary file.
    package func forRandomAccess() throws -> BodyContents {
        guard !self.codings.isEmpty else { return self }
        let file = try TemporaryFile { write in try self.forEachPiece(write) }
        return BodyContents(file.source, [], start: 0, size: file.size, inflated: self.inflated)
    }

    /// Delivers pieces in order until `deliver` returns false.
    package func forEachPiece(while deliver: (UnsafeRawBufferPointer) throws -> Bool) throws {
        guard self.size > 0 else { return }
        var left = self.size
        func limited(_ piece: UnsafeRawBufferPointer) throws -> Bool {
            let room = UnsafeRawBufferPointer(rebasing: piece.prefix(left))
            left -= room.count
            return try deliver(room) && left > 0
        }
        guard !self.codings.isEmpty else { return try self.source.forEachPiece(from: self.start, while: limited) }
        var skipped = 0
        do {
            _ = try Self.inflate(self.source, self.codings) { piece in
                let skip = min(piece.count, self.start - skipped)
                skipped += skip
                guard skip < piece.count else { return }
                guard try limited(UnsafeRawBufferPointer(rebasing: piece[skip...])) else { throw Enough() }
            }
        } catch is Enough {}
    }

    package func forEachPiece(_ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        try self.forEachPiece(while: { piece in
            try deliver(piece)
            return true
        })
    }

    /// All bytes; nil if there are more than `limit`.
    package func load(limit: Int) throws -> [UInt8]? {
        guard self.size <= limit else { return nil }
        return try self.prefix(self.size)
    }

    /// The first bytes.
    package func prefix(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        guard count > 0 else { return bytes }
        bytes.reserveCapacity(min(count, self.size))
        try self.forEachPiece(while: { piece in
            bytes.append(contentsOf: piece.prefix(count - bytes.count))
            return bytes.count < count
        })
        return bytes
    }

    // MARK: Codings

    private static func inflate(
        _ source: ByteSource, _ names: [ContentEncoding.Name], _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> (breaking: Breaking?, size: Int) {
        guard let chain = DecoderChain(names, limits: .file(codedSize: source.size)) else {
            let problem = InflateProblem(.unsupported, offset: 0, reason: "this build does not know the coding")
            return (Breaking(name: names[0], problem: problem), 0)
        }
        try source.forEachPiece(while: { try chain.push($0, deliver: deliver) })
        _ = chain.finish()
        return (chain.problem.map { Breaking(name: $0.name, problem: $0.problem) }, chain.produced)
    }
}

/// Which message of an exchange a body belongs to.
package enum MessageChoice: String, Sendable, CaseIterable {
    case request, response
}

extension Interaction {
    /// The body of a message, if it has one, and the message's header fields.
    package func body(of message: MessageChoice) -> (body: Body?, headers: HeaderFields) {
        switch message {
        case .request: (self.request.body, self.request.headers)
        case .response: (self.response?.body, self.response?.headers ?? HeaderFields())
        }
    }
}

/// Why `inspect` cannot show what was requested.
///
/// Its message says what is missing from which exchange, and what to do next.
package typealias InspectError = CodedError<InspectErrorCode>

package enum InspectErrorCode: Sendable {
    case noExchange, noBody, noPart
    /// A body that contains control characters, or is not text.
    case unfitForTerminal
    /// A file or a folder of an extraction.
    case unwritable
    /// A request that no command line can send.
    case noCommand
}
