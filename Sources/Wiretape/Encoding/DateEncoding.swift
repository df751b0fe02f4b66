public import Foundation

extension URLEncodedFormEncoder {
    public enum DateEncoding: Sendable {
        /// As `Date` encodes itself: seconds since 2001-01-01T00:00:00Z.
        case deferredToDate
        /// With a decimal: `1.0`.
        case secondsSince1970
        /// With a decimal: `1000.0`.
        case millisecondsSince1970
        /// `1970-01-01T00:00:01Z` (RFC 3339), without parts of a second.
        case iso8601
        case formatted(DateFormatter)
        case custom(@Sendable (Date) throws -> String)

        /// Nil where the value encodes itself.
        func encode(_ date: Date) throws -> String? {
            switch self {
            case .deferredToDate: nil
            case .secondsSince1970: "\(date.timeIntervalSince1970)"
            case .millisecondsSince1970: "\(date.timeIntervalSince1970 * 1000)"
            case .iso8601: date.formatted(.iso8601)
            case .formatted(let formatter): formatter.string(from: date)
            case .custom(let encode): try encode(date)
            }
        }
    }
}
