/// Why a test has no cassette to run with.
public struct CassetteTestError: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// What went wrong with which name or setting, and what to do next.
    public var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { self.message }

    /// A kind of error; more kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case badName, badMode, noFolder, inUse, notClean }

        private var value: Value

        /// A cassette's name that is no path below the folder of cassettes.
        public static var badName: Self { Self(value: .badName) }
        /// `WIRETAPE_MODE` says something that is no mode.
        public static var badMode: Self { Self(value: .badMode) }
        /// The folder of cassettes cannot be told from the test's source file.
        public static var noFolder: Self { Self(value: .noFolder) }
        /// Another test of the process is recording the cassette.
        public static var inUse: Self { Self(value: .inUse) }
        /// Outside of a test, where nothing can be recorded as an issue: the replay was not clean, or the recording not kept.
        public static var notClean: Self { Self(value: .notClean) }

        public var description: String { "\(self.value)" }
    }
}
