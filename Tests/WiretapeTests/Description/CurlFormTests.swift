import CassetteModel
import Foundation
import Testing
import Wiretape

@testable import Wiretape

@Suite struct CurlFormTests {
    private func curl(_ form: MultipartFormData, savesRest: Bool = false) -> CurlForm? {
        CurlForm(form, text: { if case .octets(let bytes) = form.parts[$0].source { bytes } else { nil } }, savesRest: savesRest)
    }

    @Test func textsAndFilesAreArguments() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("a \"b\" \(UUID().uuidString).png")
        try Data([1]).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        var form = MultipartFormData()
        try form.append("@x;y=z", name: "a")
        try form.append(url, withName: "b", fileName: "c\\d.png")
        let path = url.path.replacing("\"", with: "\\\"")
        #expect(self.curl(form)?.arguments == ["--form-string 'a=@x;y=z'", "-F 'b=@\"\(path)\";filename=\"c\\\\d.png\";type=image/png'"])
        #expect(self.curl(form)?.notes == [])
    }

    @Test func whatCurlCannotSayMakesNoForm() throws {
        let cases: [(inout MultipartFormData) throws -> Void] = [
            { try $0.append("1", name: "a=b") }, { try $0.append([0xFF], name: "a") }, { try $0.append("1\r\n", name: "a") },
            { try $0.append([1], name: "a", fileName: "f") }, { try $0.append([1], name: "a", mimeType: "a/b") },
            { try $0.append(FormDataPart(headers: HeaderFields(["X: 1"]), source: .octets([]))) },
            { try $0.append(FormDataStream(length: 3) { { _ in 0 } }, name: "s") },
        ]
        for (index, append) in cases.enumerated() {
            var form = MultipartFormData()
            try append(&form)
            #expect(self.curl(form) == nil, "\(index)")
            #expect(self.curl(form, savesRest: true)?.notes.first?.hasPrefix("part 1 of the form has ") == true)
        }
    }

    @Test func whatIsToBeSavedIsNamed() throws {
        var form = MultipartFormData()
        try form.append(FormDataStream(length: 3) { { _ in 0 } }, name: "s", fileName: "f.bin")
        #expect(self.curl(form, savesRest: true)?.arguments == ["-F 's=@\"part-1\";filename=\"f.bin\"'"])
        #expect(self.curl(form, savesRest: true)?.notes == ["part 1 of the form has 3 bytes: save them as \"part-1\""])
    }
}
