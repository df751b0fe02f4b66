public import CassetteModel
internal import Foundation
public import TapeBytes

extension FormData {
    /// One part of a form: its header section as it is sent, and the source of its bytes.
    ///
    /// A header field that would end the section early, or add a line to it, is an error.
    public struct Part: Sendable {
        public let headers: HeaderFields
        public let source: Source

        /// Any header fields, as for `multipart/mixed`.
        public init(headers: HeaderFields, source: Source) throws(FormDataError) {
            for index in 0..<headers.count {
                let line = headers.line(at: index)
                let name = line.prefix { $0 != UInt8(ascii: ":") }
                let isName = !name.isEmpty && name.count < line.count && name.allSatisfy { $0 > 32 && $0 < 127 }
                guard isName, line.allSatisfy({ $0 >= 32 && $0 != 127 || $0 == 9 }) else {
                    let shown = PlainText.escape(line, limit: 200)
                    throw FormDataError(
                        .invalidHeader, "\"\(shown)\" is not a header field: pass \"name: value\" without control characters")
                }
            }
            guard source.length >= 0 else {
                throw FormDataError(.invalidLength, "a stream cannot have \(source.length) bytes: pass the number that it will deliver")
            }
            self.headers = headers
            self.source = source
        }

        /// A part of `multipart/form-data` (RFC 7578, 4.2).
        public init(name: String, fileName: String? = nil, mimeType: String? = nil, source: Source) throws(FormDataError) {
            var disposition = "form-data; name=\"\(Self.escaped(name))\""
            if let fileName { disposition += "; filename=\"\(Self.escaped(fileName))\"" }
            var headers = HeaderFields()
            headers.append(name: "Content-Disposition", value: disposition)
            if let mimeType { headers.append(name: "Content-Type", value: mimeType) }
            try self.init(headers: headers, source: source)
        }

        /// Escapes a name as browsers do (WHATWG HTML, "multipart/form-data encoding algorithm"): plain UTF-8, with the three bytes that
        /// would end the text or the line percent-encoded. Other control characters are rejected together with the header.
        static func escaped(_ text: String) -> String {
            var escaped = ""
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\"": escaped += "%22"
                case "\r": escaped += "%0D"
                case "\n": escaped += "%0A"
                default: escaped.unicodeScalars.append(scalar)
                }
            }
            return escaped
        }
    }

    /// The source of a part's bytes.
    public enum Source: Sendable {
        case bytes([UInt8])
        case file(File)
        case stream(Stream)

        public var length: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .file(let file): file.size
            case .stream(let stream): stream.length
            }
        }
    }

    /// Bytes of a part that are made or fetched while they are sent. Their number is known in advance.
    ///
    /// For a stream that can be read only once, `open` must throw the second time.
    public struct Stream: Sendable {
        /// Fills the buffer with the next bytes and returns their number; 0 at the end.
        public typealias Read = (_ buffer: UnsafeMutableRawBufferPointer) throws -> Int

        public let length: Int
        /// Starts at the first byte; called once for each encoding.
        public let open: @Sendable () throws -> Read

        public init(length: Int, open: @escaping @Sendable () throws -> Read) {
            self.length = length
            self.open = open
        }
    }
}

/// An `InputStream` as the source of a part: it is read once.
///
/// Never reads `streamError`: if there is none, Foundation on Linux ends the process.
// SAFETY: the stream is touched only by the one reader that `open` hands out, and only one encoder at a time calls it.
final class InputStreamReader: @unchecked Sendable {
    private let stream: InputStream
    private let isTaken = Guarded(false)

    init(_ stream: InputStream) { self.stream = stream }

    func open() throws -> FormData.Stream.Read {
        let wasTaken = self.isTaken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        }
        guard !wasTaken, self.stream.streamStatus == .notOpen else {
            throw FormDataError(
                .unreadable, "the stream of a part was already read and cannot be read twice: append data or a file instead")
        }
        self.stream.open()
        return { [self] buffer in
            guard let start = buffer.baseAddress, buffer.count > 0 else { return 0 }
            let count = self.stream.read(start.assumingMemoryBound(to: UInt8.self), maxLength: buffer.count)
            guard count >= 0 else {
                throw FormDataError(.unreadable, "the stream of a part could not be read: append data or a file instead")
            }
            return count
        }
    }

    deinit { self.stream.close() }
}

/// An error in a part of a form, or one that occurred while the form was encoded.
///
/// Callers branch on `code`; `message` is for people. Errors of the caller's own streams are passed on unchanged.
public typealias FormDataError = CodedError<FormData.ErrorCode>

extension FormData {
    /// A kind of error; more kinds may be added.
    public struct ErrorCode: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case invalidBoundary, invalidHeader, invalidLength, notAFileURL, unreachable, isFolder, noSize, unopenable, changed, unreadable
            case unwritable
        }

        private var value: Value

        /// Not a boundary by RFC 2046, 5.1.1.
        public static var invalidBoundary: Self { Self(value: .invalidBoundary) }
        /// A header field that would break the part's header section.
        public static var invalidHeader: Self { Self(value: .invalidHeader) }
        /// Negative, or the whole form is longer than `Int.max`.
        public static var invalidLength: Self { Self(value: .invalidLength) }
        /// Another scheme, another host, or no path.
        public static var notAFileURL: Self { Self(value: .notAFileURL) }
        /// There is no such file, or its path is not accessible.
        public static var unreachable: Self { Self(value: .unreachable) }
        public static var isFolder: Self { Self(value: .isFolder) }
        /// A device, a pipe or a socket: its length is not known.
        public static var noSize: Self { Self(value: .noSize) }
        /// The file exists, but cannot be opened for reading.
        public static var unopenable: Self { Self(value: .unopenable) }
        /// There were more or fewer bytes than announced.
        public static var changed: Self { Self(value: .changed) }
        public static var unreadable: Self { Self(value: .unreadable) }
        /// The temporary file could not be created or written.
        public static var unwritable: Self { Self(value: .unwritable) }

        public var description: String { "\(self.value)" }
    }
}
