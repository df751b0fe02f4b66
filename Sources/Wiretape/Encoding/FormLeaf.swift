internal import Foundation

/// A value that has no others within it.
enum FormLeaf: Sendable, Equatable {
    case text(String)
    /// Sent as they are where a form can hold them.
    case octets(Data)
}
