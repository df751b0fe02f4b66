import Testing

@testable import CassetteTools

@Suite struct PlaceholderNumbersTests {
    @Test(arguments: [
        ("", ""), ("a", "a"), ("Bearer {{authorization:12}}; x", "Bearer {{authorization:}}; x"),
        ("{{a:1}}{{b-1:2}}", "{{a:}}{{b-1:}}"), ("q=%7B%7Bapi-key%3A3%7D%7D&r=1", "q={{api-key:}}&r=1"),
        ("{{a}} {{1}} {b:1}", "{{a}} {{1}} {b:1}"),
        ("100% {", "100% {"), ("{{{a:1}}}", "{{{a:}}}"),
    ])
    func onlyNumbersOfPlaceholdersGo(text: String, rest: String) {
        #expect(PlaceholderNumbers.leftOut(text) == rest)
        #expect(PlaceholderNumbers.leftOut(Array(text.utf8)) == Array(rest.utf8))
    }
}
