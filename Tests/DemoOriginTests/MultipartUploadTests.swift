import CZlib
import Testing

@testable import DemoOrigin

struct MultipartUploadTests {
    static let form = "multipart/form-data; boundary=XX"

    static func wire(_ text: String) -> [UInt8] {
        Array(text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n").utf8)
    }

    @Test func fieldAndFileAreReported() throws {
        let body = Self.wire(
            """
            --XX
            Content-Disposition: form-data; name="name"

            보리
            --XX
            content-disposition: form-data; name="photo"; filename="b \\"x\\".png"
            Content-Type: image/png

            a

            --X
            --XX--

            """)
        let parts = try MultipartUpload(contentType: Self.form, body: body).parts
        #expect(parts.map(\.name) == ["name", "photo"])
        #expect(parts.map(\.text) == ["보리", nil])
        #expect(parts.map(\.size) == [6, 8])
        #expect(parts[1].type == "image/png")
        #expect(parts[1].crc32 == UInt32(crc32(0, Array("a\r\n\r\n--X".utf8), 8)))
    }

    @Test func quotedBoundaryAndUnknownFieldsAreTaken() throws {
        let body = Self.wire("--a b\nX-Odd\nX-More: 1\nContent-Disposition: form-data; name=n\n\nv\n--a b--")
        let upload = try MultipartUpload(contentType: "Multipart/Form-Data; charset=x; boundary=\"a b\"", body: body)
        #expect(upload.json == "{\"parts\": [{\"name\": \"n\", \"size\": 1, \"crc32\": \(crc32(0, [118], 1)), \"text\": \"v\"}]}\n")
    }

    @Test func fieldOutsideUTF8HasNoText() throws {
        let body = Self.wire("--XX\nContent-Disposition: form-data; name=\"n\"\n\n") + [0xff, 0xfe] + Self.wire("\n--XX--\n")
        let upload = try MultipartUpload(contentType: Self.form, body: body)
        #expect(upload.parts.map(\.size) == [2])
        #expect(upload.parts[0].text == nil)
    }

    @Test func textIsEscapedInTheReport() throws {
        let body = Self.wire("--XX\nContent-Disposition: form-data; name=\"n\"\n\na\\\"\u{1}\n--XX--\n")
        #expect(try MultipartUpload(contentType: Self.form, body: body).json.contains(#""text": "a\\\"\u0001""#))
    }

    @Test(arguments: [
        ("text/plain; boundary=XX", "--XX--"),
        ("multipart/form-data", "--XX--"),
        ("multipart/form-data; boundary=", "--XX--"),
        ("multipart/form-data; boundary=\"", "--XX--"),
        ("", "--XX--"),
        (form, ""),
        (form, "--X"),
        (form, "--XX"),
        (form, "--XX\nA: b\n\nv"),
        (form, "--XX\nno empty line\n--XX--"),
        (form, "--XX--XX"),
    ])
    func brokenFormIsRefusedOrEmpty(type: String, text: String) {
        let parts = try? MultipartUpload(contentType: type, body: Self.wire(text)).parts
        #expect(parts == nil || parts == [])
    }

    @Test func everyShorteningOfAFormIsRefused() throws {
        let body = Self.wire("--XX\nContent-Disposition: form-data; name=\"n\"\n\nv\n--XX--")
        #expect(try MultipartUpload(contentType: Self.form, body: body).parts.count == 1)
        for length in 0..<body.count {
            #expect(throws: MultipartUpload.Refusal.self) {
                try MultipartUpload(contentType: Self.form, body: Array(body.prefix(length)))
            }
        }
    }

    @Test func tooManyPartsAreRefused() {
        let part = "--XX\nContent-Disposition: form-data; name=n\n\nv\n"
        let body = Self.wire(String(repeating: part, count: MultipartUpload.partLimit + 1) + "--XX--")
        #expect(throws: MultipartUpload.Refusal(message: "more than 100 parts")) {
            try MultipartUpload(contentType: Self.form, body: body)
        }
    }
}
