internal import NIOCore
internal import TapeBytes

/// One value for each event loop of a server, each made on its loop and touched there alone.
///
/// Hands work to loops until their gates are shut. Never empty.
struct PerLoop<Value>: Sendable {
    private let values: [NIOLoopBound<Value>]
    private let loopGates: [LoopGate]

    /// Makes the values; blocks until all are there, so the caller is no event loop.
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

    /// The value of a loop, which is the caller's; nil if the loop is none of these.
    func find(on loop: any EventLoop) -> Value? { self.values.first { $0.eventLoop === loop }?.value }

    /// The same for a loop that is among the gates.
    func value(on loop: any EventLoop) -> Value {
        // Every caller has the loop from the gates that this was made with, or from another value that was made with them.
        guard let value = self.find(on: loop) else { fatalError("an event loop of another server") }
        return value
    }

    /// Does the same on each loop, and returns at once.
    func execute(_ work: @escaping @Sendable (Value) -> Void) {
        for (loopGate, bound) in zip(self.loopGates, self.values) { loopGate.execute { work(bound.value) } }
    }

    /// Does the same on each loop; the caller is no event loop.
    ///
    /// - Returns: what came of it, in the order of the loops, once all are through.
    func map<Result: Sendable>(_ work: @escaping @Sendable (Value) throws -> Result) throws -> [Result] {
        let futures = self.values.map { bound in bound.eventLoop.submit { try work(bound.value) } }
        return try futures.map { try $0.wait() }
    }

    /// Begins something on each loop.
    ///
    /// - Parameter begin: completes the promise when it has ended there.
    /// - Returns: succeeds on the first loop when it has ended on all.
    func whenAll(_ begin: @escaping @Sendable (Value, EventLoopPromise<Void>) -> Void) -> EventLoopFuture<Void> {
        let endings = self.values.map { bound in
            let ended = bound.eventLoop.makePromise(of: Void.self)
            bound.eventLoop.execute { begin(bound.value, ended) }
            return ended.futureResult
        }
        return .andAllComplete(endings, on: self.values[0].eventLoop)
    }
}

/// Lets other threads hand work to an event loop, until it is shut: a recorder may outlive the loop.
final class LoopGate: Sendable {
    let loop: any EventLoop
    private let isOpen = Guarded(true)

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Runs the work on the loop, or not at all.
    func execute(_ work: @escaping @Sendable () -> Void) {
        self.isOpen.withLock { isOpen in
            if isOpen { self.loop.execute(work) }
        }
    }

    /// After this, nothing more comes through.
    func shut() {
        self.isOpen.withLock { $0 = false }
    }
}
