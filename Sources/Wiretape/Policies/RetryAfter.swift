internal import TapeBytes
internal import CassetteModel
internal import CassettePlayback

/// How long a server asks its clients to wait (RFC 9110, 10.2.3).
struct RetryAfter: Sendable, Hashable {
    /// Never below zero.
    let delay: Duration

    /// A date counts from the response's own `Date`, so that a wrong clock here does no harm, and answers that are replayed give the same time.
    ///
    /// - Parameter now: for a response without a `Date`.
    /// - Returns: nil without such a field, or with one that is neither seconds nor a date.
    init?(_ headers: HTTPHeaders, now: Timestamp) {
        guard let text = headers.value(for: "Retry-After")?.trimmed else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            // Past all numbers is past all limits.
            self.delay = .seconds(Int64(text).map { min($0, Int64(Int32.max)) } ?? Int64(Int32.max))
        } else if let date = WrittenDate(String(text))?.time {
            let from = headers.value(for: "Date").flatMap { WrittenDate(String($0.trimmed)) }?.time ?? now
            self.delay = max(.zero, .microseconds(date.microseconds - from.microseconds))
        } else {
            return nil
        }
    }
}

extension String {
    /// Without white space around it (RFC 9110, 5.6.3).
    fileprivate var trimmed: Substring {
        let start = self.utf8.firstIndex { $0 != 32 && $0 != 9 } ?? self.endIndex
        let end = self.utf8.lastIndex { $0 != 32 && $0 != 9 }.map(self.utf8.index(after:)) ?? self.endIndex
        return self[start..<max(start, end)]
    }
}
