internal import Dispatch
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking

/// Leads a load back to where URLSession may be told of its answer: on Linux into `startLoading`, by suspending and resuming the task.
///
/// Calls from anywhere else race with URLSession's own bookkeeping and kill about every second process that has many requests at once.
struct LoadingThread: Sendable {
    /// Both calls wait for the queue of all URL sessions, so nothing else waits here.
    private static let queue = DispatchQueue(label: "wiretape.adapter.back")

    func enter() {}

    /// Does nothing to a task that was cancelled or has ended.
    func comeBack(_ task: URLSessionTask?, _ call: @escaping @Sendable () -> Void) {
        guard let task else { return }
        Self.queue.async {
            task.suspend()
            task.resume()
        }
    }

    /// Otherwise it was suspended.
    static func isCancelled(_ task: URLSessionTask?) -> Bool {
        switch task?.state {
        case .running, .suspended: false
        case .canceling, .completed, nil: true
        @unknown default: true
        }
    }
}
#else
/// Leads a load back to where URLSession may be told of its answer: on Apple's platforms to the thread that called `startLoading`, in the
/// modes of its run loop at that moment.
// SAFETY: unchecked because of the run loop, which Core Foundation lets any thread hand work to; it is set once, before anybody else knows
// of this object.
final class LoadingThread: @unchecked Sendable {
    private var runLoop: CFRunLoop?
    private var modes: [CFString] = []

    func enter() {
        let runLoop = CFRunLoopGetCurrent()
        self.runLoop = runLoop
        self.modes = [CFRunLoopMode.defaultMode.rawValue]
        if let mode = CFRunLoopCopyCurrentMode(runLoop)?.rawValue, mode != CFRunLoopMode.defaultMode.rawValue { self.modes.append(mode) }
    }

    func comeBack(_ task: URLSessionTask?, _ call: @escaping @Sendable () -> Void) {
        guard let runLoop = self.runLoop else { return }
        CFRunLoopPerformBlock(runLoop, self.modes as CFArray, call)
        CFRunLoopWakeUp(runLoop)
    }

    /// The system stops a load for good, whatever the reason.
    static func isCancelled(_ task: URLSessionTask?) -> Bool { true }
}
#endif
