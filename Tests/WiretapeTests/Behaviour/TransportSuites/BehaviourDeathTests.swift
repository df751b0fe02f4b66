import ClientTestSupport
import Testing

/// Behaviours that end the process still do so, each in a process of its own.
@Suite struct BehaviourDeathTests {
    struct Death: Sendable, CustomTestStringConvertible {
        var behaviour: Behaviour
        var way: WayKind
        var lastWords: String

        var testDescription: String { "\(self.behaviour) by \(self.way)" }

        /// The ones with the proxy in between run in the proxy's suite.
        static let all: [Death] = Behaviour.all.flatMap { behaviour in
            [WayKind.live, .recording, .facade, .adapter].compactMap { way in
                guard case .dies(let words) = Expectations.standard.outcome(behaviour, way) else { return nil }
                return Death(behaviour: behaviour, way: way, lastWords: words)
            }
        }
    }

    @Test(arguments: Death.all) func stillDies(_ death: Death) async throws {
        let place = try BehaviourOrigin(death.behaviour)
        let (ending, errors) = try await ProbeProcess.run("behave", death.way.rawValue, death.behaviour.name, place.url)
        ProbeProcess.expectDeath(ending, errors, of: death.testDescription, saying: death.lastWords)
        place.expectAsked(death.behaviour)
    }
}
