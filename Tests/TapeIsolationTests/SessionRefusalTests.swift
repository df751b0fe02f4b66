import Testing

@testable import TapeIsolation

@Suite struct SessionRefusalTests {
    @Test(arguments: ["a.test", "2001:db8::5"]) func aLineIsReadAsItWasWritten(_ host: String) {
        let refusal = SessionRefusal(port: 40_000, target: .init(host: host, port: 6380), reason: .notHTTP)
        #expect(SessionRefusal(line: refusal.line) == refusal)
    }

    @Test(arguments: ["", "forwards", "refused x not-http 1 a", "refused 1 nothing 1 a", "refused 1 silent 70000 a", "refused 1 silent 80"])
    func anythingElseIsNone(_ line: String) { #expect(SessionRefusal(line: line) == nil) }
}
