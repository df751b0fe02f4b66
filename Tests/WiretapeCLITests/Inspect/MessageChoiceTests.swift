import CassetteModel
import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct MessageChoiceTests {
    @Test func eachMessageHasItsBodyAndFields() {
        var interaction = Interaction.sample(body: Body(size: 1, content: .text([65])))
        #expect(interaction.body(of: .response).body?.size == 1)
        #expect(interaction.body(of: .response).headers.contains("content-type"))
        #expect(interaction.body(of: .request).body == nil)
        #expect(interaction.body(of: .request).headers.contains("host"))
        interaction.response = nil
        #expect(interaction.body(of: .response).body == nil)
        #expect(interaction.body(of: .response).headers.isEmpty)
    }
}
