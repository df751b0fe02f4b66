public import TapeBytes
internal import CassetteModel

/// Why an exchange is not in its cassette, or why the recorder cannot write.
///
/// The message says what is wrong, with which file or exchange, and what to do next.
/// The cause is the error of the cassette or of a file next to it; nil if neither is the cause.
public typealias RecorderProblem = CodedError<RecorderProblemCode>

/// A kind of problem. More kinds may be added.
public struct RecorderProblemCode: Hashable, Sendable, CustomStringConvertible {
    private enum Value { case diskFull, unwritable, exchange, ended }

    private var value: Value

    /// There is no space: on the disk (ENOSPC), in the quota (EDQUOT), or below the limit on file size (EFBIG).
    public static var diskFull: Self { Self(value: .diskFull) }
    /// The cassette or a file next to it cannot be written for another reason.
    public static var unwritable: Self { Self(value: .unwritable) }
    /// This exchange could not be encoded, for example because a secret could not be redacted. Other exchanges are not affected.
    public static var exchange: Self { Self(value: .exchange) }
    /// The recording had already ended.
    public static var ended: Self { Self(value: .ended) }

    public var description: String { "\(self.value)" }
}

extension CodedError where Kind == RecorderProblemCode {
    /// From a file error: the disk is full, or cannot be written or read.
    init(_ error: CassetteError) {
        self.init(error.code == .noSpace ? .diskFull : .unwritable, error.message, cause: error)
    }

    /// From an error of one exchange. A write error affects all exchanges; any other error, such as a body that cannot be read back,
    /// affects only this one.
    init(_ error: any Error, ofExchange id: Int) {
        let cause = error as? CassetteError
        switch cause?.code {
        case .noSpace?, .unwritable?, .notFound?, .unsafePath?, .inUse?:
            self.init(cause?.code == .noSpace ? .diskFull : .unwritable, cause?.message ?? "", cause: cause)
        default:
            self.init(.exchange, "exchange \(id) is not recorded (\(cause?.message ?? "\(error)")): the others are", cause: cause)
        }
    }

    /// Whether nothing can be written at all, which is the case for `--on-disk-full refuse`.
    public var stopsWriting: Bool { self.code == .diskFull || self.code == .unwritable }
}

/// Decides when to retry after a failure: after a pause that doubles with each failure.
///
/// Has no clock: the caller passes the time of a monotonic clock, in nanoseconds.
struct RetryPause {
    /// 50 ms: far more than the cost of an attempt (copying 16 MiB, truncating them again and syncing).
    static let first: UInt64 = 50_000_000
    /// 2 s: the longest delay before recording continues after space was freed on the disk.
    static let longest: UInt64 = 2_000_000_000

    private var pause: UInt64 = 0
    /// The earliest time of the next attempt.
    private(set) var next: UInt64 = 0

    mutating func failed(at now: UInt64) {
        self.pause = self.pause == 0 ? Self.first : min(2 * self.pause, Self.longest)
        self.next = now + self.pause
    }

    mutating func succeeded() {
        self = RetryPause()
    }

    func mayTry(at now: UInt64) -> Bool { now >= self.next }
}
