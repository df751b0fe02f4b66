internal import TapeBytes
package import TapeExchange

/// What is handed to the recorder thread.
package enum RecorderItem: Sendable {
    /// Called on the recorder thread, or by whoever puts into a recorder that has ended: how it went with one exchange.
    ///
    /// Success: it is synced to the disk. Failure: it is not. Whether a failure is the last word depends on the recorder: one that
    /// `refusesUnrecorded` has thrown the exchange away, and it never turns up in the cassette; any other may hold it and write it later,
    /// since its answer is passed on in any case.
    package typealias Stored = @Sendable (Result<Void, RecorderProblem>) -> Void

    /// A block of a body too large to wait for its end.
    case block(exchange: Int, side: Tap.Side, bytes: [UInt8])
    /// An exchange that has ended, and who waits for it.
    case exchange(TapedExchange, stored: Stored?)

    var weight: Int {
        switch self {
        case .block(_, _, let bytes): bytes.count
        case .exchange(let exchange, _): exchange.weight
        }
    }

    /// Whether it ends an exchange, whose client has its answer by now.
    var isAcknowledged: Bool {
        if case .exchange = self { true } else { false }
    }

    /// Whether somebody waits for it.
    var isUrgent: Bool {
        if case .exchange(_, stored: .some) = self { true } else { false }
    }
}
