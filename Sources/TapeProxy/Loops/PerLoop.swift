internal import NIOCore
internal import TapeBytes

/// One value for each event loop of a server, created and used only on that loop.
///
/// Hands work to loops until their gates are shut. Never empty.
struct PerLoop<Value>: Sendable {
    private let values: [NIOLoopBound<Value>]
    private let loopGates: [LoopGate]

    /// Creates the values. Blocks until all exist, so the caller must not be an event loop.
    ///
    /// - Parameter make: called on each loop, in the order of the gates.
    init(through loopGates: [LoopGate], _ make: @escaping @Sendable (Int, any EventLoop) throws -> Value) throws {
        self.loopGates = loopGates
        self.values = try loopGates.enumerated().map { index, loopGate in
            let loop = loopGate.loop
            return try loop.submit { NIOLoopBound(try make(index, loop), eventLoop: loop) }.wait()
        }
    }

    var count: Int { self.values.count }

    /// The value of the caller's own loop; nil if the loop is not one of these.
    func find(on loop: any EventLoop) -> Value? { self.values.first { $0.eventLoop === loop }?.value }

    /// The value of the caller's own loop, which must be among the gates.
    func value(on loop: any EventLoop) -> Value {
        // Every caller got the loop from the gates that this was made with, or from another value made with them.
        guard let value = self.find(on: loop) else { fatalError("an event loop of another server") }
        return value
    }

    /// Runs the same work on each loop and returns at once.
    func execute(_ work: @escaping @Sendable (Value) -> Void) {
        for (loopGate, bound) in zip(self.loopGates, self.values) { loopGate.execute { work(bound.value) } }
    }

    /// Runs the same work on each loop. The caller must not be an event loop.
    ///
    /// - Returns: the results, in the order of the loops, once all are available.
    func map<Result: Sendable>(_ work: @escaping @Sendable (Value) throws -> Result) throws -> [Result] {
        let futures = self.values.map { bound in bound.eventLoop.submit { try work(bound.value) } }
        return try futures.map { try $0.wait() }
    }

    /// Starts something on each loop.
    ///
    /// - Parameter begin: completes the promise when the work has ended on its loop.
    /// - Returns: succeeds on the first loop when the work has ended on all loops.
    func whenAll(_ begin: @escaping @Sendable (Value, EventLoopPromise<Void>) -> Void) -> EventLoopFuture<Void> {
        let endings = self.values.map { bound in
            let ended = bound.eventLoop.makePromise(of: Void.self)
            bound.eventLoop.execute { begin(bound.value, ended) }
            return ended.futureResult
        }
        return .andAllComplete(endings, on: self.values[0].eventLoop)
    }
}

/// Lets other threads hand work to an event loop until the gate is shut, because a recorder may outlive the loop.
final class LoopGate: Sendable {
    let loop: any EventLoop
    private let isOpen = Guarded(true)

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Runs the work on the loop, or not at all if the gate is shut.
    func execute(_ work: @escaping @Sendable () -> Void) {
        self.isOpen.withLock { isOpen in
            if isOpen { self.loop.execute(work) }
        }
    }

    /// From now on, no more work reaches the loop.
    func shut() {
        self.isOpen.withLock { $0 = false }
    }
}
