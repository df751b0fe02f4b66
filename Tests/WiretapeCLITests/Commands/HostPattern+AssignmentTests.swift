import TapeTrust
import Testing

@testable import WiretapeCLI

@Suite struct HostPatternAssignmentTests {
    @Test func theFirstEqualsSignParts() throws {
        let (pattern, value) = try HostPattern.assignment("[::1]:8443=a=b", "A=B")
        #expect(pattern == (try HostPattern("[::1]:8443")) && value == "a=b")
    }

    @Test func whatIsMissingIsToldWithTheForm() {
        #expect(trustProblem { _ = try HostPattern.assignment("a", "A=B") } == "there is no value for a host in \"a\": write A=B.")
        #expect(trustProblem { _ = try HostPattern.assignment("a=", "A=B") } == "there is no value for a host in \"a=\": write A=B.")
        #expect(trustProblem { _ = try HostPattern.assignment("a b=c", "A=B") }?.contains("a b") == true)
    }
}
