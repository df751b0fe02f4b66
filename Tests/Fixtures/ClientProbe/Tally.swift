import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How the requests of a stress run have ended.
final class Tally: @unchecked Sendable {
    // SAFETY: behind the lock.
    private let lock = NSLock()
    private var right = 0
    private var cancelled = 0
    private var wrong: [String] = []

    func ended(_ url: URL, _ data: Data?, _ response: URLResponse?, _ error: (any Error)?, mayBeCancelled: Bool) {
        let error = error.map { $0 as NSError }
        self.lock.lock()
        defer { self.lock.unlock() }
        if let error, mayBeCancelled, error.domain == NSURLErrorDomain, error.code == NSURLErrorCancelled {
            self.cancelled += 1
        } else if error == nil, data.map({ String(decoding: $0, as: UTF8.self) }) == url.path, response?.url == url {
            self.right += 1
        } else {
            self.wrong.append("\(url.path): \(data?.count ?? -1) octets, \(error.map { "\($0)" } ?? "no error")")
        }
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
