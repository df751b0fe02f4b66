import Testing

@testable import Wiretape

@Suite struct FormKeyTests {
    @Test func aPathIsShownAsInAForm() {
        #expect(FormKey.text(of: [FormKey("a"), FormKey(index: 2), FormKey("b")]) == "a[2][b]")
        #expect(FormKey.text(of: []) == "")
        #expect(FormKey(intValue: 3)?.stringValue == "3" && FormKey(stringValue: "x")?.intValue == nil)
    }
}
