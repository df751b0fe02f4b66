/// The handlers of one request, in the order in which they were added: each starts when the one before it has returned.
///
/// Runs nothing itself.
struct HandlerLine: Sendable {
    typealias Handler = @Sendable (_ outcome: RequestOutcome, _ done: @escaping @Sendable () -> Void) -> Void

    private var waiting: [Handler] = []
    private var next = 0
    private var isOpen = false
    private var isRunning = false

    mutating func add(_ handler: @escaping Handler) { self.waiting.append(handler) }

    var canStart: Bool { self.isOpen && !self.isRunning && self.next < self.waiting.count }

    /// The request is over.
    mutating func open() { self.isOpen = true }

    /// - Returns: who is to run now; then `handlerReturned` is to be called.
    mutating func start() -> Handler? {
        guard self.canStart else { return nil }
        self.isRunning = true
        defer { self.next += 1 }
        return self.waiting[self.next]
    }

    mutating func handlerReturned() {
        self.isRunning = false
        guard self.next == self.waiting.count else { return }
        // What they hold is not needed any more.
        self.waiting = []
        self.next = 0
    }
}
