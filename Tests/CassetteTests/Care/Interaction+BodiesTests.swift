import Testing

@testable import CassetteModel

@Suite struct InteractionBodiesTests {
    @Test func bodiesComeWithTheirMessages() {
        #expect(Interaction.care(1).bodies.isEmpty)
        let both = Interaction.care(1, requestBody: .text("a"), headers: ["A: 1"], body: .text("bc"))
        #expect(both.bodies.map(\.message) == ["request", "response"])
        #expect(both.bodies.map(\.body.size) == [1, 2])
        #expect(both.bodies[1].headers == HeaderFields(["A: 1"]))
    }
}
