internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Encodes a form into buffers of any size: keeps one file open at a time, and no part in memory.
///
/// Produces exactly the announced length or throws: a file or stream with more or fewer bytes is an error.
public struct FormDataEncoder: ~Copyable {
    private enum Stage {
        case head, body, end
    }

    private final class Opened {
        let file: OpenFile

        init(_ path: String) throws(FormDataError) {
            do {
                self.file = try OpenFile(path, for: .read)
            } catch {
                throw FormDataError(.unopenable, error.message, cause: error)
            }
        }
    }

    private let form: FormData
    private var index = 0
    private var stage = Stage.head
    /// The rest of a delimiter and its headers, not written yet.
    private var pending: ArraySlice<UInt8>
    /// Bytes of the current part written so far.
    private var position = 0
    private var read: FormData.Stream.Read?

    init(_ form: FormData) {
        self.form = form
        self.pending = form.head(0)[...]
        if form.parts.isEmpty { self.stage = .end }
    }

    /// Fills as much of the buffer as the form has left; returns 0 only at its end. Unusable after it has thrown.
    public mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var filled = 0
        while filled < buffer.count {
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            if !self.pending.isEmpty {
                let count = min(room.count, self.pending.count)
                room.copyBytes(from: self.pending.prefix(count))
                self.pending = self.pending.dropFirst(count)
                filled += count
                continue
            }
            switch self.stage {
            case .head:
                try self.begin()
            case .body:
                let count = try self.takeBody(room)
                filled += count
                if count == 0 { self.endPart() }
            case .end:
                return filled
            }
        }
        return filled
    }

    private mutating func begin() throws {
        self.position = 0
        self.stage = .body
        switch self.form.parts[self.index].source {
        case .bytes: self.read = nil
        case .stream(let stream): self.read = try stream.open()
        case .file(let file):
            let opened = try Opened(file.path)
            var offset = 0
            self.read = { buffer in
                do {
                    let count = try opened.file.read(into: buffer, at: offset)
                    offset += count
                    return count
                } catch let error as CassetteError {
                    throw FormDataError(.unreadable, error.message, cause: error)
                }
            }
        }
    }

    private mutating func endPart() {
        self.read = nil
        self.index += 1
        self.stage = self.index < self.form.parts.count ? .head : .end
        self.pending = self.form.head(self.index)[...]
    }

    /// Returns 0 once all bytes of the part are written and its source has no more.
    private mutating func takeBody(_ buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let source = self.form.parts[self.index].source
        let left = source.length - self.position
        guard let read = self.read else {
            guard case .bytes(let bytes) = source, left > 0 else { return 0 }
            let count = min(left, buffer.count)
            bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[self.position..<self.position + count])) }
            self.position += count
            return count
        }
        guard left > 0 else {
            guard try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1, { try read($0) }) == 0 else { throw self.changed("more") }
            return 0
        }
        let count = try read(UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(left)))
        guard (1...min(left, buffer.count)).contains(count) else { throw self.changed("fewer") }
        self.position += count
        return count
    }

    private func changed(_ how: String) -> FormDataError {
        let source = self.form.parts[self.index].source
        switch source {
        case .file(let file):
            return FormDataError(
                .changed,
                "\"\(PlainText.escape(file.path.utf8, limit: 200))\" has \(how) bytes than the \(file.size) it had when it was appended: append it again"
            )
        case .bytes, .stream:
            return FormDataError(
                .changed,
                "the stream of part \(self.index + 1) has \(how) bytes than the \(source.length) announced: pass its exact length")
        }
    }
}
