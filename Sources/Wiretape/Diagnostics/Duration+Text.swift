internal import CassetteModel
internal import Foundation
internal import TapeBytes

extension Duration {
    /// Milliseconds with fractions, the unit of cassettes.
    var milliseconds: Double {
        let (seconds, attoseconds) = self.components
        return Double(seconds) * 1000 + Double(attoseconds) / 1e15
    }

    init(milliseconds: Double) {
        // A number from a file may be anything. The limit is a hundred years; `Int64` nanoseconds end at 292.
        let limit = 3.2e12
        self = .nanoseconds(Int64((milliseconds.isNaN ? 0 : max(-limit, min(milliseconds, limit))) * 1e6))
    }

    /// `0.412`: seconds with three decimals.
    var secondsText: String { String(format: "%.3f", locale: nil, self.milliseconds / 1000) }
}

extension Timestamp {
    init(_ date: Date) {
        let microseconds = (date.timeIntervalSince1970 * 1e6).rounded()
        self.init(microseconds: Int64(exactly: microseconds) ?? (microseconds < 0 ? Int64.min : Int64.max))
    }
}
