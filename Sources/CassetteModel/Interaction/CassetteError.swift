public import TapeBytes

/// An error about a cassette or a file next to it.
///
/// Callers branch on `code`; `message` is for people.
public typealias CassetteError = CodedError<CassetteErrorCode>

/// A kind of error. More kinds may be added.
public struct CassetteErrorCode: Hashable, Sendable, CustomStringConvertible {
    private enum Value {
        case notFound, damaged, unsupportedVersion, unsafePath, unreadable, unwritable, noSpace, inUse, tooLarge, secretsLeft, cancelled
    }

    private var value: Value

    /// There is no such cassette.
    public static var notFound: Self { Self(value: .notFound) }
    /// Not a cassette, or one that violates the format. Never treated as "no cassette yet".
    public static var damaged: Self { Self(value: .damaged) }
    /// Written by a newer version of the format.
    public static var unsupportedVersion: Self { Self(value: .unsupportedVersion) }
    /// A path inside a cassette that leads, or might lead, out of the cassette's folder.
    public static var unsafePath: Self { Self(value: .unsafePath) }
    /// The file exists but could not be read.
    public static var unreadable: Self { Self(value: .unreadable) }
    /// The file could not be created or written.
    public static var unwritable: Self { Self(value: .unwritable) }
    /// The disk or the quota is full.
    public static var noSpace: Self { Self(value: .noSpace) }
    /// Another recorder is writing this cassette.
    public static var inUse: Self { Self(value: .inUse) }
    /// A limit of the reader was exceeded.
    public static var tooLarge: Self { Self(value: .tooLarge) }
    /// A secret that was to be redacted is still in the recording.
    public static var secretsLeft: Self { Self(value: .secretsLeft) }
    /// The caller no longer needs the result.
    public static var cancelled: Self { Self(value: .cancelled) }

    public var description: String { "\(self.value)" }
}

extension CassetteError {
    /// Throws `cancelled` if the current thread's work was cancelled.
    package static func checkCancellation() throws(CassetteError) {
        guard WorkCancellation.isCancelled else { return }
        throw CassetteError(.cancelled, "the cassette is no longer read, since nobody waits for the result")
    }
}

/// The place of an interaction, for error messages.
public struct InteractionPlace: Sendable, Hashable {
    /// The cassette's path as given by the caller.
    public var file: String?
    /// Counted from 1.
    public var interaction: Int?
    /// The line of the file on which the interaction's text begins, from 1.
    public var line: Int

    /// A separate interaction text: errors give line numbers within it, and no file.
    public static let textAlone = InteractionPlace(file: nil, line: 1)

    public init(file: String?, interaction: Int? = nil, line: Int) {
        self.file = file
        self.interaction = interaction
        self.line = line
    }

    /// - Parameter line: the line within the interaction's text, from 1.
    package func error(_ code: CassetteError.Code, line: Int, member: String, _ problem: String) -> CassetteError {
        let file = self.file.map { "'\($0)' " } ?? ""
        let interaction = self.interaction.map { "interaction \($0): " } ?? ""
        let member = member.isEmpty ? "" : "\(member): "
        return CassetteError(
            code,
            "\(file)line \(self.line + line - 1): \(interaction)\(member)\(problem); correct that line or restore the file from a copy")
    }
}
