@testable import CassettePlayback

extension CassetteSession {
    /// Decides on a request without a body where the head is enough; nil where it is not.
    func head(_ method: String, _ url: String) -> Decision? {
        switch self.begin(method: method, url: url) {
        case .decided(let decision): decision
        case .needsBody(let pending): try? self.resolve(pending, body: .none)
        }
    }
}
