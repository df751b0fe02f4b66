import CassetteRedaction
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct PlaceholderFillTests {
    @Test func aSourceIsAPlaceholderAndAVariable() throws {
        let source = try PlaceholderFill.Source("api-key:12=API=KEY")
        #expect(source.placeholder == Placeholder(kind: "api-key", number: 12) && source.variable == "API=KEY")
    }

    @Test(arguments: ["", "a:1", "a:1=", "a=X", ":1=X", "a:=X", "a:x=X", "{{a:1}}=X", "a b:1=X", "=X"])
    func invalidSourceIsReportedWithAnExample(text: String) {
        let error = #expect(throws: SettingError.self) { try PlaceholderFill.Source(text) }
        #expect(error?.message.contains("authorization:1=API_TOKEN") == true)
    }

    @Test(arguments: ["NONE", "EMPTY", "LINES"])
    func aValueThatNoMessageCanHoldIsReportedBeforeSending(name: String) throws {
        let environment = ["EMPTY": [UInt8](), "LINES": Array("a\r\nb".utf8)]
        let source = try PlaceholderFill.Source("a:1=\(name)")
        let error = #expect(throws: SettingError.self) { try PlaceholderFill([source]) { environment[$0] } }
        #expect(error?.message.contains("\"\(name)\"") == true)
    }

    @Test func filledSecretOfAnEnvironmentIsASecretAgain() throws {
        let sources = [try PlaceholderFill.Source("env-KEY:1=OTHER"), try PlaceholderFill.Source("authorization:1=OTHER")]
        let fill = try PlaceholderFill(sources) { _ in Array("kT7-pQ2x".utf8) }
        #expect(fill.secrets.secrets == [SecretValue(name: "KEY", bytes: Array("kT7-pQ2x".utf8))])
        #expect(PlaceholderFill().secrets == .standard)
    }

    @Test func aValueTooShortToBeLookedForKeepsNoOtherFromIt() throws {
        let sources = [try PlaceholderFill.Source("env-A:1=A"), try PlaceholderFill.Source("env-B:1=B")]
        let fill = try PlaceholderFill(sources) { $0 == "A" ? Array("abc".utf8) : Array("kT7-pQ2x".utf8) }
        #expect(fill.secrets.secrets.map(\.name) == ["B"])
    }
}
