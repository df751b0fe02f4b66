internal import CassetteModel

/// Redacts an AWS event stream that arrives in pieces, frame by frame. Holds one frame in memory; a frame too long for that is searched by
/// its looks alone and keeps its length, so that its last checksum no longer fits.
final class FrameStream {
    /// The longest frame that is held, in bytes. The protocol allows 24 MiB.
    private static let limit = 24 << 20

    private let redaction: TextRedaction
    private var divider = StreamDivider(.frames)
    private var held: [UInt8] = []
    /// What is left of a frame that is too long.
    private var long: TextStream?
    private(set) var count = 0
    /// What could not be searched.
    private(set) var notes: [String] = []

    init(_ redaction: TextRedaction) { self.redaction = redaction }

    func push(_ piece: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        var ends: [Int] = []
        self.divider.push(piece) { ends.append($0) }
        var start = 0
        for end in ends {
            try self.take(piece[start..<end], deliver)
            try self.end(deliver)
            start = end
        }
        try self.take(piece[start...], deliver)
    }

    func finish(deliver: (UnsafeRawBufferPointer) throws -> Void) throws { try self.end(deliver) }

    private func take(_ bytes: Slice<UnsafeRawBufferPointer>, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        if let long { return try long.push(bytes, deliver: deliver) }
        self.held.append(contentsOf: bytes)
        guard self.held.count > Self.limit else { return }
        self.notes.append("a frame of more than \(Self.limit >> 20) MiB is searched for secrets by their looks alone")
        let stream = TextStream(self.redaction, kind: .binary)
        try self.held.withUnsafeBytes { try stream.push($0, deliver: deliver) }
        (self.held, self.long) = ([], stream)
    }

    private func end(_ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        if let long {
            try long.finish(deliver: deliver)
            self.count += long.count
            self.long = nil
            return
        }
        guard !self.held.isEmpty else { return }
        let edits = self.held.withUnsafeBytes { bytes in
            let frames = AmazonEventStream(content: ContentRedaction(text: self.redaction)).edits(in: bytes)
            return frames.map { EditList($0) } ?? self.redaction.edits(in: bytes, as: .binary)
        }
        self.count += edits.count
        try edits.applied(to: self.held).withUnsafeBytes(deliver)
        self.held = []
    }
}
