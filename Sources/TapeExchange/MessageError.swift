/// Why a message was refused.
///
/// Says what to answer and what to tell people; does not say which connection it came from.
public struct MessageError: Error, Hashable, Sendable {
    public var code: Code
    /// The status to answer a client with; 502 where the origin's message was at fault.
    public var status: Int
    /// What is wrong with which part of the message, and what to do next.
    public var message: String

    public struct Code: Hashable, Sendable {
        private enum Value {
            case startLine, version, lineEnd, field, tooLong, tooManyFields, framing, coding, chunk, trailer, target, host
        }
        private var value: Value

        /// A request line or status line that does not follow the grammar.
        public static var startLine: Self { Self(value: .startLine) }
        /// A major version other than 1.
        public static var version: Self { Self(value: .version) }
        /// A bare CR, a bare LF or an empty line where none belongs.
        public static var lineEnd: Self { Self(value: .lineEnd) }
        /// A field line that does not follow the grammar.
        public static var field: Self { Self(value: .field) }
        /// A line or section past its limit.
        public static var tooLong: Self { Self(value: .tooLong) }
        /// More field lines than the limit.
        public static var tooManyFields: Self { Self(value: .tooManyFields) }
        /// A message whose end is in doubt.
        public static var framing: Self { Self(value: .framing) }
        /// A transfer coding other than chunked.
        public static var coding: Self { Self(value: .coding) }
        /// A chunk that does not follow the grammar.
        public static var chunk: Self { Self(value: .chunk) }
        /// A trailer field that must not be there.
        public static var trailer: Self { Self(value: .trailer) }
        /// A request target that does not follow the grammar or fit the method.
        public static var target: Self { Self(value: .target) }
        /// A missing, repeated or malformed Host field.
        public static var host: Self { Self(value: .host) }
    }

    public init(_ code: Code, status: Int, _ message: String) {
        self.code = code
        self.status = status
        self.message = message
    }
}
