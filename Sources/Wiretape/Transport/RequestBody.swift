public import Foundation

/// What a request carries, such that it can be read again and again: for matching, a retry, a redirect.
///
/// A stream is spooled into a file before it gets here.
public enum RequestBody: Sendable {
    case none
    case data(Data)
    /// A file that stays as it is until the request has ended, with its size in octets.
    case file(URL, size: Int)
    /// There is a body, and nobody here can see it: it was given to a session of another. Never taken for an empty one; answered only
    /// where bodies do not matter, or by a recording that could not see it either.
    case unobservable

    /// Octets; nil without a body, and where nobody knows.
    public var size: Int? {
        switch self {
        case .none, .unobservable: nil
        case .data(let data): data.count
        case .file(_, let size): size
        }
    }

    /// Whether there is a body, an empty one included.
    public var isPresent: Bool {
        if case .none = self { false } else { true }
    }
}
