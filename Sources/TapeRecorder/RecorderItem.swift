package import TapeExchange

/// What is handed to the recorder thread.
package enum RecorderItem: Sendable {
    /// A block of a body too large to wait for its end.
    case block(exchange: Int, side: Tap.Side, bytes: [UInt8])
    /// An exchange that has ended. `stored` is called on the recorder thread once it is synced to disk, or could not be.
    case exchange(TapedExchange, stored: (@Sendable () -> Void)?)

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
