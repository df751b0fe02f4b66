public import Foundation
internal import TapeBytes

extension MultipartFormData {
    /// Appends octets as a field, or as a file where a file name is given.
    public mutating func append(
        _ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil
    ) throws(FormDataError) {
        try self.append([UInt8](data), name: name, fileName: fileName, mimeType: mimeType)
    }

    /// Appends a file, under its own name and with the type of its extension where no other is given. It is read when the form is sent.
    public mutating func append(
        _ fileURL: URL, withName name: String, fileName: String? = nil, mimeType: String? = nil
    ) throws(FormDataError) {
        guard fileURL.isFileURL else { return try self.append(fileURL: fileURL.absoluteString, name: name) }
        try self.append(FormDataFile(path: fileURL.path), name: name, fileName: fileName, mimeType: mimeType)
    }

    /// Appends a stream that is read once, when the form is encoded; encoding the form a second time is an error.
    ///
    /// - Parameters:
    ///   - stream: not opened yet, and read by nobody else.
    ///   - length: the octets that it will deliver; more or fewer are an error.
    public mutating func append(
        _ stream: InputStream, withLength length: UInt64, name: String, fileName: String, mimeType: String
    ) throws(FormDataError) {
        try self.append(Self.source(stream, length), name: name, fileName: fileName, mimeType: mimeType)
    }

    /// Appends a stream that is read once, with header fields of one's own.
    public mutating func append(_ stream: InputStream, withLength length: UInt64, headers: HTTPHeaders) throws(FormDataError) {
        try self.append(FormDataPart(headers: headers.headerFields, source: .stream(Self.source(stream, length))))
    }

    private static func source(_ stream: InputStream, _ length: UInt64) throws(FormDataError) -> FormDataStream {
        guard let length = Int(exactly: length) else {
            throw FormDataError(.invalidLength, "a stream cannot have \(length) octets: give the number that it will deliver")
        }
        let reader = InputStreamReader(stream)
        return FormDataStream(length: length) { try reader.open() }
    }
}

/// An input stream that is read once.
///
/// Never asks for its `streamError`: where there is none, Foundation on Linux ends the process.
// SAFETY: the stream is touched only by the one reader that `open` hands out, and only one encoder at a time calls that.
final class InputStreamReader: @unchecked Sendable {
    private let stream: InputStream
    private let isTaken = Guarded(false)

    init(_ stream: InputStream) { self.stream = stream }

    func open() throws -> FormDataStream.Read {
        let wasTaken = self.isTaken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        }
        guard !wasTaken, self.stream.streamStatus == .notOpen else {
            throw FormDataError(
                .unreadable, "the stream of a part has been read already, and cannot be read twice: append the data or a file in its place")
        }
        self.stream.open()
        return { [self] buffer in
            guard let start = buffer.baseAddress, buffer.count > 0 else { return 0 }
            let count = self.stream.read(start.assumingMemoryBound(to: UInt8.self), maxLength: buffer.count)
            guard count >= 0 else {
                throw FormDataError(.unreadable, "the stream of a part could not be read: append the data or a file in its place")
            }
            return count
        }
    }

    deinit { self.stream.close() }
}
