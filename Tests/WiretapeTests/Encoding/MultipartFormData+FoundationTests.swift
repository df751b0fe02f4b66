import CassetteModel
import Foundation
import Testing
import Wiretape

@Suite struct MultipartFormDataFoundationTests {
    private func text(_ form: MultipartFormData) throws -> String { String(decoding: try form.encode().source.load(), as: UTF8.self) }

    @Test func dataIsAFieldOrAFile() throws {
        var form = MultipartFormData(boundary: try FormDataBoundary("B"))
        try form.append(Data("1".utf8), withName: "a")
        try form.append(Data("2".utf8), withName: "b", fileName: "c.png", mimeType: "image/png")
        #expect(
            try self.text(form)
                == """
                --B\r
                Content-Disposition: form-data; name="a"\r
                \r
                1\r
                --B\r
                Content-Disposition: form-data; name="b"; filename="c.png"\r
                Content-Type: image/png\r
                \r
                2\r
                --B--\r\n
                """)
    }

    @Test func aFileIsReadUnderItsOwnNameOrAnother() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape 한 \(UUID().uuidString).json")
        try Data("{}".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        var form = MultipartFormData()
        try form.append(url, withName: "a")
        try form.append(url, withName: "a", fileName: "x.bin", mimeType: "a/b")
        #expect(form.parts.map { ContentDisposition($0.headers)?.filename } == [url.lastPathComponent, "x.bin"])
        #expect(form.parts.map { $0.headers.first("content-type") } == ["application/json", "a/b"])
        #expect(try self.text(form).contains("\r\n\r\n{}\r\n"))
        #expect { try form.append(try "https://h/a".asURL(), withName: "a") } throws: { ($0 as? FormDataError)?.code == .notAFileURL }
        #expect { try form.append(url.appendingPathComponent("no"), withName: "a") } throws: {
            ($0 as? FormDataError)?.code == .unreachable
        }
    }

    @Test func aStreamIsReadOnce() throws {
        var form = MultipartFormData()
        try form.append(InputStream(data: Data("abc".utf8)), withLength: 3, name: "s", fileName: "s.txt", mimeType: "text/plain")
        try form.append(InputStream(data: Data("def".utf8)), withLength: 3, headers: ["X-A": "1"])
        let text = try self.text(form)
        #expect(text.contains("Content-Type: text/plain\r\n\r\nabc\r\n") && text.contains("X-A: 1\r\n\r\ndef\r\n"))
        #expect { try form.encode() } throws: { ($0 as? FormDataError)?.code == .unreadable }
    }

    @Test func aStreamHasAsManyBytesAsItSays() throws {
        for length in [2, 4] as [UInt64] {
            var form = MultipartFormData()
            try form.append(InputStream(data: Data("abc".utf8)), withLength: length, headers: ["X-A": "1"])
            #expect { try form.encode() } throws: { ($0 as? FormDataError)?.code == .changed }
        }
        var form = MultipartFormData()
        #expect { try form.append(InputStream(data: Data()), withLength: .max, headers: [:]) } throws: {
            ($0 as? FormDataError)?.code == .invalidLength
        }
    }
}
