internal import TapeBytes

/// Takes taped exchanges, from any thread and without waiting: the recorder, or whatever stands in for it.
package protocol ExchangeSink: Sendable {
    /// The number of the next exchange.
    func nextID() -> Int
    /// - Returns: whether it is full: stop reading until it has drained.
    func put(_ item: RecorderItem) -> Bool
    /// Whether it has had no room since `put` said so.
    var isFull: Bool { get }
    /// - Parameter call: called on any thread each time it was full and has room again; takes the place of an earlier one.
    func onDrain(_ call: @escaping @Sendable () -> Void)
    /// What keeps it from writing; nil if nothing does.
    var obstacle: RecorderProblem? { get }
}

extension Recorder: ExchangeSink {}
