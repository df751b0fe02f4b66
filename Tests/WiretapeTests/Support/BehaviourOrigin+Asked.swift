import ClientTestSupport
import Foundation
import Testing

extension BehaviourOrigin {
    /// Expects that the origin, if there is one, got exactly this one request.
    func expectAsked(_ behaviour: Behaviour, sourceLocation: SourceLocation = #_sourceLocation) {
        guard behaviour.steps != nil else { return }
        #expect(self.requests.count == 1, sourceLocation: sourceLocation)
        guard let request = self.requests.first else { return }
        #expect(request.method == behaviour.method, sourceLocation: sourceLocation)
        #expect(request.target == behaviour.path, sourceLocation: sourceLocation)
        #expect(request.body == behaviour.body.bytes ?? Data(), sourceLocation: sourceLocation)
        for (name, value) in behaviour.headers { #expect(request.field(name) == value, "\(name)", sourceLocation: sourceLocation) }
    }
}
