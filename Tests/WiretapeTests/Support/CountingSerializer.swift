import Foundation

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Returns the number of its calls.
struct CountingSerializer: HTTPSession.ResponseSerializer {
    let calls: Collected<Int>

    func serialize(request: URLRequest?, response: HTTPSession.Response?, data: Data?, error: (any Error)?) throws -> Int {
        self.calls.add(request?.allHTTPHeaderFields?.count ?? -1)
        return self.calls.all.count
    }
}
