/// What went wrong with a cassette or a file beside it.
///
/// Callers branch on `code`; `message` is for people.
public struct CassetteError: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// What went wrong, with which file, line or interaction, and what to do next.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { self.message }

    /// A kind of error; more kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case notFound, damaged, unsupportedVersion, unsafePath, unreadable, unwritable, noSpace, inUse, tooLarge, secretsLeft
        }

        private var value: Value

        /// There is no such cassette.
        public static var notFound: Self { Self(value: .notFound) }
        /// Not a cassette, or not as the format says. Never treated as "no cassette yet".
        public static var damaged: Self { Self(value: .damaged) }
        /// Written by a newer version of the format.
        public static var unsupportedVersion: Self { Self(value: .unsupportedVersion) }
        /// A path inside a cassette that leads out of the cassette's folder, or might.
        public static var unsafePath: Self { Self(value: .unsafePath) }
        /// The file is there and could not be read.
        public static var unreadable: Self { Self(value: .unreadable) }
        /// The file could not be created or written.
        public static var unwritable: Self { Self(value: .unwritable) }
        /// The disk or the quota is full.
        public static var noSpace: Self { Self(value: .noSpace) }
        /// Another recorder writes this cassette.
        public static var inUse: Self { Self(value: .inUse) }
        /// Past a limit of the reader.
        public static var tooLarge: Self { Self(value: .tooLarge) }

        /// What was to be taken out is still in the recording.
        public static var secretsLeft: Self { Self(value: .secretsLeft) }

        public var description: String { "\(self.value)" }
    }
}
