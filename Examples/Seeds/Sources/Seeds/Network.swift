import Foundation
import Wiretape

/// The one object that all of an app asks, with completion handlers.
public final class Network: Sendable {
    public static let shared = Network()

    private let session = HTTPSession()

    public func pets(
        at url: URL, queue: DispatchQueue = .main, completion: @escaping @Sendable (Result<[Pet], WiretapeError>) -> Void
    ) {
        self.session.request(url.appendingPathComponent("pets")).validate().responseDecodable(of: [Pet].self, queue: queue) {
            completion($0.result)
        }
    }
}
