internal import Foundation

/// One reader of a stream: a sequence that waits, or a handler that is called.
struct StreamReader: Sendable {
    var buffer: StreamBuffer
    /// Of the sequence, while it waits.
    var waiter: CheckedContinuation<Data?, any Error>?
    /// Of the handler: takes what there is, one chunk after the other.
    var pump: (@Sendable () -> Void)?
    var isPumping = false
    /// The handler has been told of the end.
    var isDone = false
}
