internal import CassetteFormat
public import CassetteModel
public import TapeBytes

extension BodyReader {
    /// Passes the messages of a WebSocket one after another, however many there are.
    ///
    /// A file is checked against its digest when it has been read to its end; the last messages are passed before that.
    ///
    /// - Parameters:
    ///   - digest: a fresh SHA-256.
    ///   - take: receives each message, with the position of its line if it is in a file. Returns false to stop reading.
    public func forEachMessage(
        of messages: WebSocketMessages, digest: some ContentDigest,
        _ take: (_ message: WebSocketMessage, _ line: Range<Int>) throws -> Bool
    ) throws {
        let sidecar: Sidecar
        switch messages {
        case .inline(let messages):
            for message in messages where try !take(message, 0..<0) { return }
            return
        case .file(let file, _): sidecar = file
        }
        try self.forEachLine(of: sidecar, digest: digest) { number, line, range in
            let place = InteractionPlace(file: sidecar.path, line: number)
            return try take(WebSocketMessageCoder.decode(Array(line), place), range)
        }
    }

    /// All files of a WebSocket: the file of its messages, and the files that messages refer to.
    public func sidecars(of messages: WebSocketMessages, digest: some ContentDigest) throws -> [Sidecar] {
        guard case .file = messages else { return messages.sidecars }
        var sidecars = messages.sidecars
        try self.forEachMessage(of: messages, digest: digest) { message, _ in
            if case .file(let sidecar)? = message.content.payload { sidecars.append(sidecar) }
            return true
        }
        return sidecars
    }

    /// The message on one line of a file, at a position passed by `forEachMessage`.
    public func message(in sidecar: Sidecar, at line: Range<Int>) throws(CassetteError) -> WebSocketMessage {
        let bytes = try self.withFile(sidecar.path) { file throws(CassetteError) in try file.read(line) }
        return try self.message(bytes, at: line, of: sidecar)
    }

    /// The messages on consecutive lines of a file, at positions passed by `forEachMessage`.
    public func messages(in sidecar: Sidecar, at lines: ArraySlice<Range<Int>>) throws(CassetteError) -> [WebSocketMessage] {
        guard let first = lines.first, let last = lines.last else { return [] }
        let bytes = try self.withFile(sidecar.path) { file throws(CassetteError) in try file.read(first.lowerBound..<last.upperBound) }
        var messages: [WebSocketMessage] = []
        for line in lines {
            let range = line.lowerBound - first.lowerBound..<line.upperBound - first.lowerBound
            guard range.upperBound <= bytes.count else {
                throw CassetteError(.damaged, "\"\(sidecar.path)\" ended while it was read; record the exchange again")
            }
            messages.append(try self.message(Array(bytes[range]), at: line, of: sidecar))
        }
        return messages
    }

    private func message(
        _ text: [UInt8], at line: Range<Int>, of sidecar: Sidecar
    ) throws(CassetteError) -> WebSocketMessage {
        do {
            return try WebSocketMessageCoder.decode(text, .textAlone)
        } catch {
            // Decoded again for the error message: finding the line number requires reading the file up to it.
            var number = 1
            try self.withFile(sidecar.path) { file throws(CassetteError) in
                try file.forEachPiece(in: 0..<line.lowerBound) { bytes, _ in
                    for byte in bytes where byte == 0x0a { number += 1 }
                    return true
                }
            }
            return try WebSocketMessageCoder.decode(text, InteractionPlace(file: sidecar.path, line: number))
        }
    }

    private func forEachLine(
        of sidecar: Sidecar, digest: some ContentDigest,
        _ take: (_ number: Int, _ line: UnsafeRawBufferPointer, _ range: Range<Int>) throws -> Bool
    ) throws {
        let stream = try self.open(sidecar, digest: digest)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteSource.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        /// The beginning of a line that continues in the next piece.
        var carry: [UInt8] = []
        var (number, offset) = (1, 0)
        while case let count = try stream.read(into: buffer), count > 0 {
            let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            var start = 0
            while start < count {
                let end = ByteScan.index(of: 0x0a, in: piece, from: start)
                let part = UnsafeRawBufferPointer(rebasing: piece[start..<end])
                if end == count || !carry.isEmpty { carry += part }
                guard carry.count <= ConversationMessages.lineLimit else {
                    throw CassetteError(
                        .tooLarge,
                        "\"\(sidecar.path)\" line \(number) has more than the \(ConversationMessages.lineLimit) bytes that a message may have"
                    )
                }
                guard end < count else { break }
                let length = carry.isEmpty ? part.count : carry.count
                let range = offset..<offset + length
                guard carry.isEmpty ? try take(number, part, range) : try carry.withUnsafeBytes({ try take(number, $0, range) }) else {
                    return
                }
                carry.removeAll(keepingCapacity: true)
                number += 1
                offset = range.upperBound + 1
                start = end + 1
            }
        }
        guard !carry.isEmpty else { return }
        _ = try carry.withUnsafeBytes { try take(number, $0, offset..<offset + carry.count) }
    }
}
