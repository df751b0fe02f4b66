internal import Foundation

/// Parameters on their way into a form: a tree with names.
enum FormValue: Sendable, Equatable {
    case leaf(FormLeaf)
    case array([FormValue])
    /// In the order in which they came.
    case object([Member])

    struct Member: Sendable, Equatable {
        var name: String
        var value: FormValue
    }
}
