import CassetteModel
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct CurlFormTests {
    private func curl(_ form: FormData, savesRest: Bool = false) -> CurlForm? {
        CurlForm(form, text: { if case .bytes(let bytes) = form.parts[$0].source { bytes } else { nil } }, savesRest: savesRest)
    }

    @Test func textsAndFilesAreArguments() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("a \"b\" \(UUID().uuidString).png")
        try Data([1]).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        var form = FormData()
        try form.append("@x;y=z", name: "a")
        try form.append(url, withName: "b", fileName: "c\\d.png")
        let path = url.path.replacing("\"", with: "\\\"")
        #expect(self.curl(form)?.arguments == ["--form-string 'a=@x;y=z'", "-F 'b=@\"\(path)\";filename=\"c\\\\d.png\";type=image/png'"])
        #expect(self.curl(form)?.notes == [])
    }

    @Test func formThatCurlCannotExpressIsNil() throws {
        let cases: [(inout FormData) throws -> Void] = [
            { try $0.append("1", name: "a=b") }, { try $0.append([0xFF], name: "a") }, { try $0.append("1\r\n", name: "a") },
            { try $0.append([1], name: "a", fileName: "f") }, { try $0.append([1], name: "a", mimeType: "a/b") },
            { try $0.append(FormData.Part(headers: HeaderFields(["X: 1"]), source: .bytes([]))) },
            { try $0.append(FormData.Stream(length: 3) { { _ in 0 } }, name: "s") },
        ]
        for (index, append) in cases.enumerated() {
            var form = FormData()
            try append(&form)
            #expect(self.curl(form) == nil, "\(index)")
            #expect(self.curl(form, savesRest: true)?.notes.first?.hasPrefix("part 1 of the form has ") == true)
        }
    }

    @Test func partsToSaveAreNamed() throws {
        var form = FormData()
        try form.append(FormData.Stream(length: 3) { { _ in 0 } }, name: "s", fileName: "f.bin")
        #expect(self.curl(form, savesRest: true)?.arguments == ["-F 's=@\"part-1\";filename=\"f.bin\"'"])
        #expect(self.curl(form, savesRest: true)?.notes == ["part 1 of the form has 3 bytes: save them as \"part-1\""])
    }
}

@Suite struct CurlBodyTests {
    @Test func textStandsInTheCommand() {
        #expect(CurlBody(Array("a 'b'\n".utf8)).arguments == ["--data-raw 'a '\\''b'\\''\n'"])
        #expect(CurlBody([]).arguments == ["--data-raw ''"] && CurlBody([]).source == nil)
    }

    @Test func otherBytesArePiped() {
        #expect(CurlBody([0xFF, 0]).source == "printf '%s' '/wA=' | base64 -d")
        #expect(CurlBody(Array("a\r\n".utf8)).source == "printf 'a\\015\\n'")
        #expect(CurlBody(Array(repeating: 0x61, count: 200_000)).source?.hasPrefix("printf '%s' 'aaa") == true)
        #expect(CurlBody([0xFF]).arguments == ["--data-binary @-"])
    }

    @Test func aFileIsNamed() {
        #expect(CurlBody(path: "/tmp/it's").arguments == ["--data-binary '@/tmp/it'\\''s'"])
    }
}

@Suite struct ShellTextTests {
    @Test func wordsAndCommands() {
        #expect(ShellText.quoted("") == "''")
        #expect(ShellText.quoted("it's $HOME `x` \"y\" \\") == #"'it'\''s $HOME `x` "y" \'"#)
        #expect(ShellText.printing("100% 'x'\n") == #"printf '%s' '100% '\''x'\'''"#.replacing("x'\\'''", with: "x'\\''\n'"))
        #expect(ShellText.printing("a\r\n%\\\u{0}1") == #"printf 'a\015\n%%\\\0001'"#)
        #expect(ShellText.printing("-n-\t") == #"printf '\055n-\011'"#)
        #expect(ShellText.isPlain("한 글\n") && !ShellText.isPlain("\t") && !ShellText.isPlain("\u{7F}"))
    }

    @Test(arguments: ["sh", "bash"]) func shellPrintsTheText(shell: String) throws {
        var generator = SeededGenerator(seed: 6)
        let alphabet = Array("'\"\\%$`!#&|;<>(){}[]*?~ \n\r\t\u{0}\u{1}\u{7F}019nax한é-@".unicodeScalars)
        for _ in 0..<20 {
            let scalars = (0..<Int.random(in: 0...60, using: &generator)).compactMap { _ in alphabet.randomElement(using: &generator) }
            let text = String(String.UnicodeScalarView(scalars))
            let result = try ShellRun(shell, ShellText.printing(text))
            #expect(result.output == Data(text.utf8), "\(ShellText.printing(text)): \(result.errors)")
        }
    }
}
