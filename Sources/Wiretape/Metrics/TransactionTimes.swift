internal import CassetteModel
internal import Foundation

/// The moments of one exchange as `URLSessionTaskTransactionMetrics` names them; nil where one did not come.
struct TransactionTimes: Sendable, Hashable {
    var fetchStart: Date?
    var domainLookupStart: Date?
    var domainLookupEnd: Date?
    var connectStart: Date?
    var secureConnectionStart: Date?
    var secureConnectionEnd: Date?
    var connectEnd: Date?
    var requestStart: Date?
    var requestEnd: Date?
    var responseStart: Date?
    var responseEnd: Date?

    /// As a cassette counts: `connect` is the transport's connection alone, and the handshake behind it is `tls`.
    var timing: Timing {
        let firstStep = self.domainLookupStart ?? self.connectStart ?? self.requestStart
        return Timing(
            blocked: Self.milliseconds(self.fetchStart, firstStep),
            dns: Self.milliseconds(self.domainLookupStart, self.domainLookupEnd),
            connect: Self.milliseconds(self.connectStart, self.secureConnectionStart ?? self.connectEnd),
            tls: Self.milliseconds(self.secureConnectionStart, self.secureConnectionEnd),
            send: Self.milliseconds(self.requestStart, self.requestEnd), wait: Self.milliseconds(self.requestEnd, self.responseStart),
            receive: Self.milliseconds(self.responseStart, self.responseEnd),
            total: Self.milliseconds(self.fetchStart ?? self.requestStart, self.responseEnd))
    }

    /// Whole microseconds; an answer that begins before its request has ended waited for nothing.
    private static func milliseconds(_ start: Date?, _ end: Date?) -> Double? {
        guard let start, let end else { return nil }
        return max(0, (end.timeIntervalSince(start) * 1e6).rounded() / 1000)
    }
}

#if !canImport(FoundationNetworking)
extension TransactionTimes {
    init(_ metrics: URLSessionTaskTransactionMetrics) {
        self.fetchStart = metrics.fetchStartDate
        self.domainLookupStart = metrics.domainLookupStartDate
        self.domainLookupEnd = metrics.domainLookupEndDate
        self.connectStart = metrics.connectStartDate
        self.secureConnectionStart = metrics.secureConnectionStartDate
        self.secureConnectionEnd = metrics.secureConnectionEndDate
        self.connectEnd = metrics.connectEndDate
        self.requestStart = metrics.requestStartDate
        self.requestEnd = metrics.requestEndDate
        self.responseStart = metrics.responseStartDate
        self.responseEnd = metrics.responseEndDate
    }
}

extension ExchangeMetrics {
    /// Of the last exchange of a task: a transport's tasks have one each. Nil where there was none.
    init?(_ metrics: URLSessionTaskMetrics) {
        guard let last = metrics.transactionMetrics.last else { return nil }
        self.init(source: .platform, timing: TransactionTimes(last).timing)
    }
}
#endif
