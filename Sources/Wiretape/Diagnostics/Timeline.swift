internal import CassetteModel
public import Foundation
internal import TapeBytes

/// When the steps of one request ended, from its start to the last serializer, with retries and redirects.
///
/// Durations are measured by the session's clock, so that changes of the system time do not affect them.
public struct Timeline: Sendable, Hashable {
    /// When the request was sent for the first time.
    public var startTime: Date
    /// From the start to the head of the final answer; nil before.
    public var latency: Duration?
    /// From the start to the end of the answer, or to the failure.
    public var requestDuration: Duration?
    /// From the start to the end of the last serializer; nil if nothing was serialized.
    public var serializationCompleted: Duration?

    public init(startTime: Date, latency: Duration? = nil, requestDuration: Duration? = nil, serializationCompleted: Duration? = nil) {
        self.startTime = startTime
        self.latency = latency
        self.requestDuration = requestDuration
        self.serializationCompleted = serializationCompleted
    }

    public var initialResponseTime: Date? { self.time(after: self.latency) }
    public var requestCompletedTime: Date? { self.time(after: self.requestDuration) }
    public var serializationCompletedTime: Date? { self.time(after: self.serializationCompleted) }

    /// From the end of the answer to the end of the last serializer.
    public var serializationDuration: Duration? {
        guard let serializationCompleted, let requestDuration else { return nil }
        return serializationCompleted - requestDuration
    }

    /// From the start to the last known step.
    public var totalDuration: Duration? { self.serializationCompleted ?? self.requestDuration ?? self.latency }

    private func time(after duration: Duration?) -> Date? {
        duration.map { self.startTime.addingTimeInterval($0.milliseconds / 1000) }
    }
}

extension Timeline: CustomStringConvertible {
    public var description: String { "Timeline: { \(Self.line(self.durations)) }" }

    private var durations: [(name: String, value: String?)] {
        [
            ("Latency", Self.text(self.latency)), ("Request Duration", Self.text(self.requestDuration)),
            ("Serialization Duration", Self.text(self.serializationDuration)), ("Total Duration", Self.text(self.totalDuration)),
        ]
    }

    private static func line(_ values: [(name: String, value: String?)]) -> String {
        values.compactMap { name, value in value.map { "\"\(name)\": \($0)" } }.joined(separator: ", ")
    }

    private static func text(_ duration: Duration?) -> String? { duration.map { "\($0.secondsText) secs" } }
}

extension Timeline: CustomDebugStringConvertible {
    /// With the times in UTC.
    public var debugDescription: String {
        let times: [(name: String, value: String?)] = [
            ("Request Start Time", self.startTime), ("Initial Response Time", self.initialResponseTime),
            ("Request Completed Time", self.requestCompletedTime), ("Serialization Completed Time", self.serializationCompletedTime),
        ]
        .map { name, time in (name, time.map { Timestamp($0).formatted }) }
        return "Timeline: { \(Self.line(times + self.durations)) }"
    }
}
