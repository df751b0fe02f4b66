import CassetteModel
import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct StubResponseTests {
    @Test func aResponseThatTakesTimeIsNotImmediate() {
        #expect(StubResponse.text("x").isImmediate)
        #expect(!StubResponse.text("x").delayed(by: .milliseconds(1)).isImmediate)
        #expect(!StubResponse(status: 200, chunks: [.init(Data(), after: .seconds(1))]).isImmediate)
    }

    @Test func makersGiveWhatTheirNamesSay() async {
        let cases: [(StubResponse, [String])] = [
            (.json("{}", status: 201), ["head 201", "chunk {}", "end"]), (.response(204), ["head 204", "end"]),
            (.failure(.dns), ["failed dns"]), (.text("t"), ["head 200", "chunk t", "end"]),
        ]
        for (response, lines) in cases {
            #expect(await StubTransport([response]).exchange(.make("GET", "http://a.test/")).lines == lines)
        }
    }
}
