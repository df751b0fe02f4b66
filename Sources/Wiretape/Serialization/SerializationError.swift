/// Why a response's body is not what a serializer makes.
public struct SerializationError: Error, Sendable, CustomStringConvertible {
    public var code: Code
    /// What came, what was wanted, and what to do next. Never has the body.
    public var message: String
    /// What a decoder threw.
    public var underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    public var description: String { self.message }

    /// A kind of error; more kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case emptyBody, notEmptiable, invalidText, unknownCharset, invalidJSON, invalidPropertyList, undecodable, unreadableFile
        }

        private var value: Value

        /// Nothing came where something had to.
        public static var emptyBody: Self { Self(value: .emptyBody) }
        /// Nothing came, which the rules allow, and the type wanted has no value for nothing.
        public static var notEmptiable: Self { Self(value: .notEmptiable) }
        /// Octets that are not of their charset.
        public static var invalidText: Self { Self(value: .invalidText) }
        public static var unknownCharset: Self { Self(value: .unknownCharset) }
        public static var invalidJSON: Self { Self(value: .invalidJSON) }
        public static var invalidPropertyList: Self { Self(value: .invalidPropertyList) }
        /// A decoder refused: see `underlying`.
        public static var undecodable: Self { Self(value: .undecodable) }
        /// There is no downloaded file, or it cannot be read.
        public static var unreadableFile: Self { Self(value: .unreadableFile) }

        public var description: String { "\(self.value)" }
    }
}
