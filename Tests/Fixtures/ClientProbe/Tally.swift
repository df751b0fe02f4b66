import Foundation
import Wiretape

/// The results of a stress run's requests.
final class Tally: @unchecked Sendable {
    // SAFETY: all access is under the lock.
    private let lock = NSLock()
    private var right = 0
    private var cancelled = 0
    private var wrong: [String] = []

    func ended(_ path: String, body: Data?, error: (any Error)?, mayBeCancelled: Bool) {
        self.lock.lock()
        defer { self.lock.unlock() }
        if let error, mayBeCancelled, Self.isCancelled(error) {
            self.cancelled += 1
        } else if error == nil, body.map({ String(decoding: $0, as: UTF8.self) }) == path {
            self.right += 1
        } else {
            self.wrong.append("\(path): \(body?.count ?? -1) bytes, \(error.map { "\($0)" } ?? "no error")")
        }
    }

    private static func isCancelled(_ error: any Error) -> Bool {
        if let error = error as? WiretapeError { return error.isCancelled }
        return (error as NSError).domain == NSURLErrorDomain && (error as NSError).code == NSURLErrorCancelled
    }

    var isRight: Bool {
        self.lock.lock()
        defer { self.lock.unlock() }
        return self.wrong.isEmpty
    }

    var text: String {
        self.lock.lock()
        defer { self.lock.unlock() }
        let wrong = self.wrong.isEmpty ? "" : ", wrong \(self.wrong.prefix(3))"
        return "right \(self.right), cancelled \(self.cancelled)\(wrong)"
    }
}
