/// What is wrong with a part of a form, or went wrong while it was encoded.
///
/// Callers branch on `code`; `message` is for people. Errors of a caller's own streams are passed on as they are.
public struct FormDataError: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// What went wrong, with which part or file, and what to do next.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { self.message }

    /// A kind of error; more kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case invalidBoundary, invalidHeader, invalidLength, notAFileURL, unreachable, isFolder, noSize, unopenable, changed, unreadable
            case unwritable
        }

        private var value: Value

        /// Not a boundary by RFC 2046, 5.1.1.
        public static var invalidBoundary: Self { Self(value: .invalidBoundary) }
        /// A header field that would break the part's header section.
        public static var invalidHeader: Self { Self(value: .invalidHeader) }
        /// Negative, or past the largest number in all.
        public static var invalidLength: Self { Self(value: .invalidLength) }
        /// Another scheme, another host, or no path.
        public static var notAFileURL: Self { Self(value: .notAFileURL) }
        /// There is no such file, or the way to it is barred.
        public static var unreachable: Self { Self(value: .unreachable) }
        public static var isFolder: Self { Self(value: .isFolder) }
        /// A device, a pipe or a socket: how much will come of it is not known.
        public static var noSize: Self { Self(value: .noSize) }
        /// The file is there and cannot be opened for reading.
        public static var unopenable: Self { Self(value: .unopenable) }
        /// More or fewer octets came than were announced.
        public static var changed: Self { Self(value: .changed) }
        public static var unreadable: Self { Self(value: .unreadable) }
        /// The temporary file could not be created or written.
        public static var unwritable: Self { Self(value: .unwritable) }

        public var description: String { "\(self.value)" }
    }
}
