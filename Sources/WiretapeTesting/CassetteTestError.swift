public import TapeBytes

/// Why a test cannot use its cassette.
///
/// Its message: what went wrong with which name or setting, and what to do next.
public typealias CassetteTestError = CodedError<CassetteTestErrorCode>

/// A kind of error; more kinds may come.
public struct CassetteTestErrorCode: Hashable, Sendable, CustomStringConvertible {
    private enum Value { case badName, badMode, noFolder, inUse, notClean }

    private var value: Value

    /// The cassette's name is no path below the folder of cassettes.
    public static var badName: Self { Self(value: .badName) }
    /// `WIRETAPE_MODE` is not a mode.
    public static var badMode: Self { Self(value: .badMode) }
    /// The folder of cassettes cannot be found from the test's source file.
    public static var noFolder: Self { Self(value: .noFolder) }
    /// Another test of the process is recording the cassette.
    public static var inUse: Self { Self(value: .inUse) }
    /// The replay was not clean, or the recording was not kept; thrown outside of a test, where there is no test to fail.
    public static var notClean: Self { Self(value: .notClean) }

    public var description: String { "\(self.value)" }
}
