@testable import CassettePlayback

extension CassetteSession {
    /// Decides on a request without a body where the head is enough; nil where it is not.
    func head(_ method: String, _ url: String) -> Decision? {
        guard case .decided(let decision) = self.begin(method: method, url: url) else { return nil }
        return decision
    }
}
