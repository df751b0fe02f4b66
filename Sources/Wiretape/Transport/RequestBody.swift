public import Foundation

/// What a request carries, such that it can be read again and again: for matching, a retry, a redirect.
///
/// A stream is spooled into a file before it gets here.
public enum RequestBody: Sendable {
    case none
    case data(Data)
    /// A file that stays as it is until the request has ended, with its size in octets.
    case file(URL, size: Int)

    /// Octets; nil without a body.
    public var size: Int? {
        switch self {
        case .none: nil
        case .data(let data): data.count
        case .file(_, let size): size
        }
    }
}
