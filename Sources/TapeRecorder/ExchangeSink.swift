/// Takes taped exchanges, from any thread and without waiting: the recorder, or whatever stands in for it.
package protocol ExchangeSink: Sendable {
    /// The number of the next exchange.
    func nextID() -> Int
    /// - Returns: whether it is full: stop reading until it has drained.
    func put(_ item: RecorderItem) -> Bool
    /// The last write found no room.
    var isDiskFull: Bool { get }
}

extension Recorder: ExchangeSink {}
