internal import NIOCore

/// A connection that ends when its time is up.
protocol TimedConnection: AnyObject {
    var deadline: NIODeadline { get }
    func deadlinePassed()
    /// The proxy is about to stop: close at once where nothing is in flight, else after what is.
    func stop()
    /// The grace period is over.
    func abort()
}
