import CassetteRedaction
import Testing
@testable import TapeRecorder

@Suite struct CassetteLeakTests {
    @Test func aLeakSaysWhereAndWhatNeverTheValue() {
        let placeholder = Placeholder(kind: "jwt", number: 2)
        let leak = CassetteLeak(exchange: 7, place: "line 120", placeholder: placeholder, spelling: .base64)
        #expect(leak.description == "exchange 7, line 120: what {{jwt:2}} stands for (base64)")
        let early = CassetteLeak(exchange: nil, place: "line 3", placeholder: placeholder, spelling: .plain)
        #expect(early.description == "the cassette's beginning, line 3: what {{jwt:2}} stands for (plain)")
    }
}
