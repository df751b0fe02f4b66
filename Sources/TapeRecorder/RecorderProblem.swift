public import TapeBytes
internal import CassetteModel

/// Why an exchange is not in its cassette, or what keeps the recorder from writing.
///
/// Its message: what went wrong, with which file or exchange, and what to do next.
/// Its cause: what the cassette or a file beside it said; nil if the trouble is with none of them.
public typealias RecorderProblem = CodedError<RecorderProblemCode>

/// A kind of problem; more kinds may come.
public struct RecorderProblemCode: Hashable, Sendable, CustomStringConvertible {
    private enum Value { case diskFull, unwritable, exchange, ended }

    private var value: Value

    /// There is no room: on the disk (ENOSPC), in the quota (EDQUOT), or below the limit on the size of a file (EFBIG).
    public static var diskFull: Self { Self(value: .diskFull) }
    /// The cassette or a file beside it cannot be written for another reason.
    public static var unwritable: Self { Self(value: .unwritable) }
    /// This exchange could not be made ready, as where a secret in it could not be taken out. No other exchange is concerned.
    public static var exchange: Self { Self(value: .exchange) }
    /// The recorder had ended before.
    public static var ended: Self { Self(value: .ended) }

    public var description: String { "\(self.value)" }
}

extension CodedError where Kind == RecorderProblemCode {
    /// An error of a file: the disk is full, or it does not take or give back what it should.
    init(_ error: CassetteError) {
        self.init(error.code == .noSpace ? .diskFull : .unwritable, error.message, cause: error)
    }

    /// What went wrong while an exchange was made ready for the cassette. What could not be written could not be for others either; all
    /// else, as a body that cannot be read back, concerns this exchange alone.
    init(_ error: any Error, ofExchange id: Int) {
        let cause = error as? CassetteError
        switch cause?.code {
        case .noSpace?, .unwritable?, .notFound?, .unsafePath?, .inUse?:
            self.init(cause?.code == .noSpace ? .diskFull : .unwritable, cause?.message ?? "", cause: cause)
        default:
            self.init(.exchange, "exchange \(id) is not recorded (\(cause?.message ?? "\(error)")): the others are", cause: cause)
        }
    }

    /// Whether nothing at all can be written, which is what `--on-disk-full refuse` is for.
    public var stopsWriting: Bool { self.code == .diskFull || self.code == .unwritable }
}
