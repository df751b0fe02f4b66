import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct FormFieldsTests {
    @Test(arguments: [
        ("a=1&b=2", ["a", "1", "b", "2"]), ("a+b=%EC%9D%B4", ["a b", "이"]), ("a", ["a", ""]), ("=x&&a==", ["", "x", "a", "="]), ("", []),
        ("%zz=%4", ["%zz", "%4"]), ("a=%+1", ["a", "% 1"]),
    ])
    func fieldsAreDecoded(text: String, fields: [String]) {
        let decoded = FormFields.decode(Array(text.utf8)).flatMap { [$0.name, $0.value] }
        #expect(decoded.map { String(decoding: $0, as: UTF8.self) } == fields)
    }
}
