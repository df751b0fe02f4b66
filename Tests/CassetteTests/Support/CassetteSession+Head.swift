@testable import CassettePlayback

extension CassetteSession {
    /// The decision on a request without a body, or nil if the head is not enough.
    func head(_ method: String, _ url: String) -> Decision? {
        switch self.begin(method: method, url: url) {
        case .decided(let decision): decision
        case .needsBody(let pending): try? self.resolve(pending, body: .none)
        }
    }
}
