import Testing

@testable import CassetteRedaction

@Suite struct LeakTests {
    @Test func saysWhatIsWhere() {
        let leak = Leak(placeholder: Placeholder(kind: "jwt", number: 2), offset: 7, spelling: .base64)
        #expect(leak.description == "{{jwt:2}} at offset 7 (base64)")
    }
}
